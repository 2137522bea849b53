// A slider that reports where it is while it is dragged: one step at a time, and the next only after the page has
// answered. Other parts of the page hear of every step at once, as an event of the window.

const states = new WeakMap(); // of each slider, kept while the page around it is drawn again
const digits = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

const meaning = (step, { max, cases, day, soft }) => {
  const share = step / max;
  const sent = Math.floor(share * cases + 0.5);
  const aDay = ((day * sent) / cases).toFixed(1);
  const rest = soft ? "mean probability" : `= ${sent} of ${cases} cases (${aDay} a day of ${day})`;
  return `${digits.format(100 * share)}\u00a0% ${rest}`;
};

export default function liveSlider({ data, parentElement, setStateValue }) {
  const part = (id) => parentElement.querySelector(`#${id}`);
  const range = part("range");
  if (!states.has(range)) {
    states.set(range, { turn: 0, waiting: false, wanted: null, sent: 0, timer: null, held: false, moved: false });
  }
  const state = Object.assign(states.get(range), { data, setStateValue });

  part("label").textContent = data.label;
  part("least").textContent = data.least;
  part("most").textContent = data.most;
  const lines = data.notes.map((text) => Object.assign(document.createElement("div"), { textContent: text }));
  part("notes").replaceChildren(...lines);
  range.min = 0;
  range.max = data.max;
  range.step = 1;

  const describe = () => {
    const text = state.moved ? meaning(Number(range.value), state.data) : state.data.meaning;
    part("meaning").textContent = text;
    range.setAttribute("aria-valuetext", text);
  };
  const announce = (message) => {
    const detail = { slider: state.data.key, ...message };
    window.dispatchEvent(new CustomEvent(state.data.event, { detail }));
  };
  const send = () => {
    clearTimeout(state.timer);
    if (state.wanted === null) return;
    const now = performance.now();
    const { every, patience } = state.data.timing;
    const left = state.sent + (state.waiting ? patience : every) - now;
    if (left > 0) {
      state.timer = setTimeout(send, left);
      return;
    }
    const { step, moving } = state.wanted;
    Object.assign(state, { turn: state.turn + 1, wanted: null, waiting: true, sent: now });
    state.setStateValue("step", { step, moving, turn: state.turn });
  };

  if (data.turn >= state.turn) {
    state.turn = data.turn;
    state.waiting = false;
  }
  if (!state.held && state.wanted === null && !state.waiting) {
    state.moved = false;
    range.value = data.step;
  }
  describe();
  if (data.numbers) announce({ ...data.numbers, turn: data.turn });
  send();

  const move = (moving) => {
    state.wanted = { step: Number(range.value), moving };
    send();
  };
  range.onpointerdown = () => {
    state.held = true;
  };
  range.onpointerup = () => {
    setTimeout(() => {
      state.held = false; // after `onchange`
    });
  };
  range.onpointercancel = range.onpointerup;
  range.oninput = () => {
    state.moved = true;
    clearTimeout(state.rest);
    describe();
    announce({ step: Number(range.value), turn: state.turn + 1 });
    move(true);
  };
  range.onchange = () => {
    // Keys are pressed several at a time, so the last one is awaited.
    state.rest = setTimeout(() => move(false), state.held ? 0 : state.data.timing.rest);
  };
  return () => clearTimeout(state.timer);
}
