// Outlines over a picture that can be dragged, sized and turned, by pointer or keys. It reports them while they move:
// one message at a time, and the next only after the page has answered.

const SVG = "http://www.w3.org/2000/svg";
const states = new WeakMap(); // of each editor, kept while the page around it is drawn again
const HANDLES = { right: [1, 0], left: [-1, 0], bottom: [0, 1], top: [0, -1] };
const TURN = "turn";
const DEGREE = Math.PI / 180;

const make = (name, attributes, parent) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
};
const rotated = ([x, y], angle) => [
  x * Math.cos(angle) - y * Math.sin(angle),
  x * Math.sin(angle) + y * Math.cos(angle),
];
const bounded = (value, least, most) => Math.min(Math.max(value, least), most);

export default function ellipseEditor({ data, parentElement, setStateValue }) {
  const part = (id) => parentElement.querySelector(`#${id}`);
  const picture = part("picture");
  if (!states.has(picture)) {
    const fresh = { turn: 0, round: 0, waiting: false, wanted: null, sent: 0, held: null, drawn: {}, ellipses: {} };
    states.set(picture, fresh);
  }
  const state = Object.assign(states.get(picture), { data, setStateValue });
  const { left, top, width, height } = data.box;

  picture.setAttribute("viewBox", `${left - 0.5} ${top - 0.5} ${width} ${height}`);
  picture.setAttribute("aria-label", data.label);
  part("hint").textContent = data.hint;
  if (data.image) {
    const place = { x: left - 0.5, y: top - 0.5, width, height, href: data.image, preserveAspectRatio: "none" };
    for (const [key, value] of Object.entries(place)) part("photo").setAttribute(key, value);
  }
  part("overlay").innerHTML = data.overlay;

  // ---------------------------------------------------------------- drawing

  const unit = () => width / Math.max(picture.clientWidth, 1); // of the picture, to a pixel of the screen
  const corner = (ellipse, [x, y]) => {
    const [dx, dy] = rotated([(x * ellipse.width) / 2, (y * ellipse.height) / 2], ellipse.angle);
    return [ellipse.x + dx, ellipse.y + dy];
  };
  const turner = (ellipse) => {
    const [dx, dy] = rotated([0, -ellipse.height / 2 - 22 * unit()], ellipse.angle);
    return [ellipse.x + dx, ellipse.y + dy];
  };
  const said = (entry, ellipse) => {
    const [w, h] = [ellipse.width, ellipse.height].map(Math.round);
    return `${entry.title}: ${w} wide, ${h} high, turned by ${Math.round(ellipse.angle / DEGREE)} degrees`;
  };

  const redraw = () => {
    for (const entry of state.data.ellipses) {
      const ellipse = state.ellipses[entry.key];
      const { group, outline, handles, stem } = state.drawn[entry.key];
      outline.setAttribute("rx", ellipse.width / 2);
      outline.setAttribute("ry", ellipse.height / 2);
      const place = `translate(${ellipse.x} ${ellipse.y}) rotate(${ellipse.angle / DEGREE})`;
      outline.setAttribute("transform", place);
      group.setAttribute("aria-label", said(entry, ellipse));
      const beyond = turner(ellipse);
      for (const [name, handle] of Object.entries(handles)) {
        const [x, y] = name === TURN ? beyond : corner(ellipse, HANDLES[name]);
        handle.setAttribute("cx", x);
        handle.setAttribute("cy", y);
        handle.setAttribute("r", 6 * unit());
      }
      const [x, y] = corner(ellipse, HANDLES.top);
      for (const [key, value] of Object.entries({ x1: x, y1: y, x2: beyond[0], y2: beyond[1] })) {
        stem.setAttribute(key, value);
      }
    }
  };

  const build = () => {
    part("outlines").replaceChildren();
    state.drawn = {};
    for (const entry of state.data.ellipses) {
      const group = make("g", { tabindex: 0, role: "button", class: "part" }, part("outlines"));
      group.style.setProperty("--colour", entry.colour);
      const outline = make("ellipse", { class: "outline" }, group);
      const stem = make("line", { class: "stem" }, group);
      const names = [...Object.keys(HANDLES), TURN];
      const handles = Object.fromEntries(
        names.map((name) => [name, make("circle", { class: `handle ${name}` }, group)]),
      );
      state.drawn[entry.key] = { group, outline, handles, stem };
    }
  };

  // ---------------------------------------------------------------- reporting

  const send = () => {
    clearTimeout(state.timer);
    if (state.wanted === null) return;
    const now = performance.now();
    const { every, patience } = state.data.timing;
    const rest = state.sent + (state.waiting ? patience : every) - now;
    if (rest > 0) {
      state.timer = setTimeout(send, rest);
      return;
    }
    const { ellipses, moving } = state.wanted;
    Object.assign(state, { turn: state.turn + 1, wanted: null, waiting: true, sent: now });
    state.setStateValue("outlines", { ellipses, moving, turn: state.turn, round: state.round });
  };
  const report = (moving) => {
    redraw();
    state.wanted = { ellipses: structuredClone(state.ellipses), moving };
    send();
  };

  // ---------------------------------------------------------------- moving

  const point = (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
    return [at.x, at.y];
  };
  const least = () => width / 60;
  const within = (ellipse) => {
    ellipse.x = bounded(ellipse.x, left, left + width);
    ellipse.y = bounded(ellipse.y, top, top + height);
    ellipse.width = bounded(ellipse.width, least(), width);
    ellipse.height = bounded(ellipse.height, least(), height);
    ellipse.angle = Math.atan2(Math.sin(ellipse.angle), Math.cos(ellipse.angle));
  };
  const hold = (event, key, name) => {
    event.preventDefault();
    event.stopPropagation();
    picture.setPointerCapture(event.pointerId);
    state.drawn[key].group.focus({ preventScroll: true });
    state.held = { key, name, from: point(event), start: { ...state.ellipses[key] } };
  };
  const drag = (event) => {
    if (!state.held) return;
    const { key, name, from, start } = state.held;
    const [x, y] = point(event);
    const ellipse = state.ellipses[key];
    if (name === "all") {
      ellipse.x = start.x + x - from[0];
      ellipse.y = start.y + y - from[1];
    } else if (name === TURN) {
      ellipse.angle = Math.atan2(y - start.y, x - start.x) + Math.PI / 2;
    } else {
      // The end opposite stays where it is.
      const [across, down] = HANDLES[name];
      const side = across ? "width" : "height";
      const fixed = corner(start, [-across, -down]);
      const along = rotated([across, down], start.angle);
      const reach = (x - fixed[0]) * along[0] + (y - fixed[1]) * along[1];
      ellipse[side] = Math.max(reach, least());
      ellipse.x = fixed[0] + (along[0] * ellipse[side]) / 2;
      ellipse.y = fixed[1] + (along[1] * ellipse[side]) / 2;
    }
    within(ellipse);
    report(true);
  };
  const drop = () => {
    if (!state.held) return;
    state.held = null;
    report(false);
  };
  const press = (event, key) => {
    const ellipse = state.ellipses[key];
    const step = width / 200;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way && event.shiftKey) {
      ellipse.width += 2 * step * way[0];
      ellipse.height -= 2 * step * way[1];
    } else if (way) {
      ellipse.x += step * way[0];
      ellipse.y += step * way[1];
    } else if (event.key.toLowerCase() === "r" && !event.ctrlKey && !event.metaKey) {
      ellipse.angle += (event.shiftKey ? -2 : 2) * DEGREE;
    } else {
      return;
    }
    event.preventDefault();
    within(ellipse);
    report(true);
    clearTimeout(state.rest);
    state.rest = setTimeout(() => report(false), state.data.timing.rest); // keys are pressed several at a time
  };

  // ---------------------------------------------------------------- an answer of the page

  if (data.round !== state.round) {
    clearTimeout(state.rest);
    Object.assign(state, { round: data.round, wanted: null, waiting: false, held: null }); // begun anew
  }
  if (data.turn >= state.turn) {
    state.turn = data.turn;
    state.waiting = false;
  }
  const names = data.ellipses.map((entry) => entry.key).join();
  const anew = names !== Object.keys(state.drawn).join();
  if (anew || (!state.held && state.wanted === null && !state.waiting)) {
    state.ellipses = Object.fromEntries(
      data.ellipses.map(({ key, x, y, width: w, height: h, angle }) => [key, { x, y, width: w, height: h, angle }]),
    );
  }
  if (anew) build();
  for (const { key } of data.ellipses) {
    const { group, outline, handles } = state.drawn[key];
    outline.onpointerdown = (event) => hold(event, key, "all");
    for (const [name, handle] of Object.entries(handles)) handle.onpointerdown = (event) => hold(event, key, name);
    group.onkeydown = (event) => press(event, key);
  }
  redraw();
  send();

  picture.onpointermove = drag;
  picture.onpointerup = drop;
  picture.onpointercancel = drop;
  const observer = new ResizeObserver(redraw); // handles keep their size on the screen
  observer.observe(picture);
  return () => {
    observer.disconnect();
    clearTimeout(state.timer);
  };
}
