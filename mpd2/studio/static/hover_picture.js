// A small picture beside the pointer while it rests on a point of a Plotly chart. Only the picture of the point is asked
// for; what came before is kept here.

const states = new WeakMap(); // of each card, kept while the page around it is drawn again
const GAP = 18; // pixels between pointer and picture

export default function hoverPicture({ data, parentElement, setStateValue }) {
  const card = parentElement.querySelector("#card");
  const picture = parentElement.querySelector("#picture");
  if (!states.has(card)) states.set(card, { known: new Map(), bound: new WeakSet(), over: "", x: 0, y: 0 });
  const state = Object.assign(states.get(card), { data, setStateValue });
  if (data.id) state.known.set(data.id, data.image);

  const place = () => {
    const side = 150;
    const right = state.x + GAP + side < window.innerWidth;
    card.style.left = `${right ? state.x + GAP : state.x - GAP - side}px`;
    card.style.top = `${Math.max(8, Math.min(state.y - side - GAP, window.innerHeight - side - 8))}px`;
  };
  const show = () => {
    const image = state.known.get(state.over);
    card.hidden = !image;
    if (!image) return;
    if (picture.src !== image) picture.src = image;
    picture.alt = state.over;
    place();
  };
  const leave = () => {
    clearTimeout(state.timer);
    state.over = "";
    show();
  };
  const enter = (event) => {
    const id = String([event.points[0].customdata].flat()[0] ?? "");
    state.over = id;
    state.x = event.event?.clientX ?? state.x;
    state.y = event.event?.clientY ?? state.y;
    show();
    clearTimeout(state.timer);
    if (id && !state.known.has(id)) {
      state.timer = setTimeout(() => state.setStateValue("hovered", id), state.data.rest);
    }
  };
  const bind = () => {
    const chart = document.querySelector(`.st-key-${CSS.escape(state.data.chart)} .js-plotly-plot`);
    if (!chart?.on || state.bound.has(chart)) return;
    state.bound.add(chart);
    chart.on("plotly_hover", (event) => enter(event));
    chart.on("plotly_unhover", () => leave());
  };
  show();
  bind();
  document.addEventListener("pointermove", bind, { passive: true }); // the chart comes later, and may come anew
  return () => {
    document.removeEventListener("pointermove", bind);
    clearTimeout(state.timer);
  };
}
