// Numbers that follow a live slider: the texts of every step are sent beforehand where they are known, else they come
// with the slider's event. Of each number there are three texts of its value and three of its change.

const states = new WeakMap(); // of each grid, kept while the page around it is drawn again
const TEXTS = 3;

const make = (tag, kind, more = {}) => Object.assign(document.createElement(tag), { className: kind, ...more });
const write = (part, text) => {
  if (part.textContent !== text) part.textContent = text;
};

const makeCard = (name, help, position) => {
  const whole = make("div", "card");
  whole.setAttribute("role", "group");
  whole.setAttribute("aria-labelledby", `name-${position}`);
  const head = make("div", "head");
  const button = make("button", "help", { type: "button", textContent: "?" });
  button.setAttribute("aria-label", `Help on ${name}`);
  button.setAttribute("aria-describedby", `tip-${position}`);
  button.onkeydown = (event) => {
    if (event.key === "Escape") button.blur();
  };
  const tip = make("div", "tip", { id: `tip-${position}` });
  tip.setAttribute("role", "tooltip");
  head.append(make("span", "name", { id: `name-${position}`, textContent: name }), button, tip);
  const level = make("div", "level");
  const [value, interval, more] = [make("span", "value"), make("span", "interval"), make("div", "more")];
  level.append(value, interval);
  const line = make("div", "line");
  const [change, sense, ends] = [make("span", "change"), make("span", "sense"), make("div", "line ends")];
  line.append(change, " ", sense);
  whole.append(head, level, more, line, ends);
  write(tip, help);
  return { whole, tip, value: [value, interval, more], change: [change, ends, sense] };
};

export default function numberCards({ data, parentElement }) {
  const part = (id) => parentElement.querySelector(`#${id}`);
  const grid = part("cards");
  if (!states.has(grid)) states.set(grid, { cards: [], names: "", heard: null });
  const state = Object.assign(states.get(grid), { data });
  if (state.names !== data.names.join()) {
    state.names = data.names.join();
    state.cards = data.names.map((name, position) => makeCard(name, data.helps[position], position));
    grid.replaceChildren(...state.cards.map((each) => each.whole));
  }
  state.cards.forEach(({ tip }, position) => {
    write(tip, data.helps[position]);
  });
  if (data.follows === null) state.heard = null;

  const atStep = (lines) => lines.split(state.data.line)[state.heard.step].split(state.data.cell);
  const texts = () => {
    if (!state.heard || state.heard.turn <= state.data.turn) return state.data; // the server's answer includes it
    const { values, changes } = state.data.sweep ?? {};
    if (values) return { values: atStep(values), changes: atStep(changes) };
    return state.heard.values ? state.heard : state.data;
  };
  const show = () => {
    const { values, changes } = texts();
    state.cards.forEach(({ value, change }, position) => {
      const first = TEXTS * (state.data.first + position);
      value.forEach((each, text) => {
        write(each, values[first + text]);
      });
      change.forEach((each, text) => {
        write(each, changes[first + text]);
      });
      const sense = change[TEXTS - 1];
      sense.className = `sense ${state.data.tones[sense.textContent] ?? ""}`;
    });
    if (values === state.data.values) {
      // At rest only: while it is dragged, the slider itself says where it is.
      const first = TEXTS * state.data.first;
      write(part("status"), `${state.data.names[0]} ${values[first]}, ${changes[first]} ${changes[first + TEXTS - 1]}`);
    }
  };
  const hear = ({ detail }) => {
    const fits = state.data.sweep ? "step" in detail : "values" in detail;
    if (detail.slider !== state.data.follows || !fits) return;
    state.heard = detail;
    show();
  };
  window.removeEventListener(data.event, state.hear);
  window.addEventListener(data.event, hear);
  state.hear = hear;
  show();
  return () => window.removeEventListener(data.event, state.hear);
}
