// What the page can do beyond being read: switches, values under the pointer, zoom.
// It reads the values off the charts' own paths, which are in the data's units.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const root = document.documentElement;
  const say = document.getElementById("say");
  document.querySelectorAll(".js").forEach((e) => { e.hidden = false; });

  // Theme: the system's, light, dark. Where nothing may be stored, it is not remembered.
  const theme = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("spillgate-theme"); } catch { return null; } };
  const show = (name) => {
    if (name === "system") delete root.dataset.theme; else root.dataset.theme = name;
    theme.textContent = "Theme: " + name;
    theme.dataset.now = name;
  };
  show(themes.includes(stored()) ? stored() : "system");
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(theme.dataset.now) + 1) % themes.length];
    try { localStorage.setItem("spillgate-theme", next); } catch { /* not remembered */ }
    show(next);
  });

  // Paper shows what is folded away on a screen, but for the fingerprints it would be too long.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("#verdicts details:not([open])")];
    opened.forEach((d) => { d.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((d) => { d.open = false; }));

  const make = (name, attributes, text) => {
    const e = document.createElementNS(NS, name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const tidy = (v, digits) => {
    if (v === 0) return "0";
    const a = Math.abs(v);
    if (a >= 1e6 || a < 1e-4) return v.toExponential(1);
    return String(Number(v.toPrecision(digits || 4)));
  };
  const ticks = (low, high, count) => {
    const rough = (high - low) / count;
    const base = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * base).find((s) => s >= rough * 0.9999);
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i++) found.push(i * step);
    return found;
  };
  const logTicks = (low, high) => {
    const found = [];
    const parts = high - low <= 2.8 ? [1, 2, 5] : [1];
    for (let d = Math.floor(low); d <= Math.ceil(high); d++)
      for (const m of parts) { const v = Math.log10(m) + d; if (v >= low - 1e-9 && v <= high + 1e-9) found.push(v); }
    return found.length > 1 ? found : ticks(10 ** low, 10 ** high, 4).map(Math.log10);
  };
  const points = (path) => {
    const found = [];
    for (const part of path.getAttribute("d").split("M")) {
      if (!part) continue;
      if (found.length) found.push(null);
      for (const p of part.replace("h0", "").trim().split(" ")) { const c = p.split(","); found.push([+c[0], +c[1]]); }
    }
    return found;
  };

  class Chart {
    constructor(panel, group) {
      this.panel = panel;
      this.svg = panel.querySelector("svg.plot");
      this.view = this.svg.querySelector("svg.view");
      this.data = this.view.querySelector("g.data");
      this.xs = this.svg.querySelector("g.xs");
      this.ys = this.svg.querySelector("g.ys");
      this.walls = [...this.svg.querySelectorAll("text.bound")].map((e) => [e, +e.dataset.x, e.getAttribute("x")]);
      this.names = [...this.svg.querySelectorAll("text.name:not(.bound)")].map((e) => [e, +e.dataset.at, e.getAttribute("y")]);
      this.tip = panel.querySelector(".tip");
      this.group = group;
      this.all = this.svg.dataset.x.split(" ").map(Number);
      this.y = this.svg.dataset.y.split(" ").map(Number);
      this.allY = this.y.slice();
      this.log = [...this.svg.dataset.log].map((c) => c === "1");
      this.units = this.svg.dataset.units.split("|");
      this.now = this.all.slice();
      for (const k of ["x", "y", "width", "height"]) this[k === "x" ? "left" : k === "y" ? "top" : k] = +this.view.getAttribute(k);
      this.lines = [...this.data.querySelectorAll("path.line")];
      panel.tabIndex = 0;
      panel.setAttribute("aria-describedby", "say");
      panel.addEventListener("pointermove", (e) => this.move(e));
      panel.addEventListener("pointerleave", () => this.leave());
      panel.addEventListener("pointerdown", (e) => this.down(e));
      panel.addEventListener("pointerup", (e) => this.up(e));
      panel.addEventListener("pointercancel", () => this.leave());
      panel.addEventListener("dblclick", () => zoom(this, this.all));
      panel.addEventListener("keydown", (e) => this.key(e));
      panel.addEventListener("blur", () => this.leave());
    }
    // Coordinate under the pointer.
    at(e) {
      const box = this.svg.getBoundingClientRect();
      const px = (e.clientX - box.left) * 480 / box.width;
      const share = Math.min(1, Math.max(0, (px - this.left) / this.width));
      return this.now[0] + share * (this.now[1] - this.now[0]);
    }
    value(v, axis) { return this.log[axis] ? 10 ** v : v; }
    text(v, axis) { return axis === 0 && this.places ? this.places[Math.round(v)] : tidy(this.value(v, axis)) + (this.units[axis] ? " " + this.units[axis] : ""); }
    // Ticks of an axis: coordinate and text.
    marks(axis, low, high, count) {
      if (axis === 0 && this.places) return this.named(low, high);
      return (this.log[axis] ? logTicks(low, high) : ticks(low, high, count)).map((v) => [v, tidy(this.value(v, axis), 6)]);
    }
    // Names of places, as many and as long as there is room for; the pointer shows all.
    named(low, high) {
      const first = Math.ceil(low), last = Math.floor(high);
      const each = Math.ceil((last - first + 1) / 12);
      const room = Math.max(3, Math.floor(this.width / (high - low) * each / 7.5));
      const found = [];
      for (let i = first; i <= last; i += each) {
        const name = this.places[i];
        found.push([i, name.length > room ? name.slice(0, room - 1) + "…" : name]);
      }
      return found;
    }
    // The sample nearest to x; on a distribution the curve's height there.
    read(path, x) {
      const all = path.points || (path.points = points(path));
      let best = null;
      if (this.group !== "delay") {
        for (const p of all) if (p && (!best || Math.abs(p[0] - x) < Math.abs(best[0] - x))) best = p;
        return best;
      }
      for (let i = 1; i < all.length; i++) {
        const [a, b] = [all[i - 1], all[i]];
        if (!a || !b || x < Math.min(a[0], b[0]) || x > Math.max(a[0], b[0])) continue;
        best = [x, b[0] === a[0] ? b[1] : a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0])];
      }
      return best;
    }
    cursor(x, aloud) {
      this.x = x;
      const rows = [];
      let shown = x;
      for (const path of this.lines) {
        if (path.classList.contains("off")) continue;
        const p = this.read(path, x);
        if (!p) continue;
        shown = p[0];
        rows.push([path.dataset.name, this.text(p[1], 1), path]);
      }
      if (!this.mark) this.mark = this.data.appendChild(make("path", { class: "cursor" }));
      this.mark.setAttribute("d", `M${shown},${this.y[0]} ${shown},${this.y[1]}`);
      this.tip.replaceChildren();
      const head = this.tip.appendChild(document.createElement("div"));
      head.textContent = this.text(shown, 0);
      for (const [name, text, path] of rows) {
        const row = this.tip.appendChild(document.createElement("div"));
        const label = row.appendChild(document.createElement("span"));
        const swatch = label.appendChild(make("svg", { class: "swatch", viewBox: "0 0 34 10" }));
        swatch.appendChild(make("path", { class: path.getAttribute("class"), d: "M1,5 33,5" }));
        label.append(" " + name);
        row.appendChild(document.createElement("b")).textContent = text;
      }
      this.tip.hidden = false;
      const box = this.svg.getBoundingClientRect();
      const outer = this.panel.getBoundingClientRect();
      const px = (this.left + this.width * (shown - this.now[0]) / (this.now[1] - this.now[0])) * box.width / 480;
      const right = px > box.width / 2;
      this.tip.style.left = right ? "auto" : px + 12 + "px";
      this.tip.style.right = right ? outer.width - px + 12 + "px" : "auto";
      this.tip.style.top = box.top - outer.top + 22 + "px";
      if (aloud) say.textContent = [this.text(shown, 0), ...rows.map((r) => r[0] + " " + r[1])].join(", ");
    }
    move(e) {
      const x = this.at(e);
      if (this.from !== undefined && e.buttons === 1) {
        if (!this.brush) this.brush = this.data.appendChild(make("rect", { class: "brush", y: this.y[0], height: this.y[1] - this.y[0] }));
        this.brush.setAttribute("x", Math.min(x, this.from));
        this.brush.setAttribute("width", Math.abs(x - this.from));
      }
      this.cursor(x);
    }
    down(e) {
      if (e.button !== 0 || e.pointerType === "touch") return;
      this.from = this.at(e);
      this.panel.setPointerCapture(e.pointerId);
    }
    up(e) {
      const [a, b] = [this.from, this.at(e)];
      this.unbrush();
      if (a !== undefined && Math.abs(b - a) > 0.02 * (this.now[1] - this.now[0])) zoom(this, [Math.min(a, b), Math.max(a, b)]);
    }
    unbrush() {
      this.from = undefined;
      if (this.brush) { this.brush.remove(); this.brush = null; }
    }
    leave() {
      this.unbrush();
      this.tip.hidden = true;
      if (this.mark) { this.mark.remove(); this.mark = null; }
    }
    key(e) {
      if (e.ctrlKey || e.metaKey || e.altKey || e.target !== this.panel) return;
      const [low, high] = this.now;
      const inside = this.x >= low && this.x <= high ? this.x : (low + high) / 2;
      const step = (high - low) / (e.shiftKey ? 10 : 50);
      if (e.key === "ArrowLeft") this.cursor(Math.max(low, inside - this.step(step)), true);
      else if (e.key === "ArrowRight") this.cursor(Math.min(high, inside + this.step(step)), true);
      else if (e.key === "Home") this.cursor(low, true);
      else if (e.key === "End") this.cursor(high, true);
      else if (e.key === "+" || e.key === "=") this.scale(inside, 0.5);
      else if (e.key === "-" || e.key === "−") this.scale(inside, 2);
      else if (e.key === "0") zoom(this, this.all);
      else if (e.key === "Escape") this.leave();
      else return;
      e.preventDefault();
    }
    // Not less than from one sample to the next, or the cursor would stick.
    step(wanted) {
      if (this.group !== "time" || !this.lines.length) return wanted;
      const path = this.lines[0];
      const all = path.points || (path.points = points(path));
      return all.length > 1 && all[0] && all[1] ? Math.max(wanted, all[1][0] - all[0][0]) : wanted;
    }
    scale(x, factor) {
      const low = x - (x - this.now[0]) * factor;
      const high = x + (this.now[1] - x) * factor;
      zoom(this, [Math.max(this.all[0], low), Math.min(this.all[1], high)]);
    }
    // The height that the visible part of the curves needs.
    fit() {
      const [low, high] = this.now;
      if (this.group !== "time" || (low === this.all[0] && high === this.all[1])) return this.allY;
      let top = 0;
      for (const path of this.lines) {
        if (path.classList.contains("off")) continue;
        for (const p of path.points || (path.points = points(path))) if (p && p[0] >= low && p[0] <= high) top = Math.max(top, p[1]);
      }
      return top > 0 ? [this.allY[0], Math.min(this.allY[1], 1.12 * top)] : this.allY;
    }
    draw(range) {
      this.now = range.slice();
      this.y = this.fit();
      const [low, high] = range;
      const sx = this.width / (high - low);
      const sy = this.height / (this.y[1] - this.y[0]);
      this.data.setAttribute("transform", `matrix(${sx} 0 0 ${-sy} ${-low * sx} ${this.y[1] * sy})`);
      const bottom = this.top + this.height;
      if (this.group === "time" || !this.ys.firstChild) {
        this.ys.replaceChildren();
        for (const [v, text] of this.marks(1, this.y[0], this.y[1], 4)) {
          const y = bottom - (v - this.y[0]) * sy;
          this.ys.append(make("line", { x1: this.left, x2: this.left + this.width, y1: y, y2: y }), make("text", { x: this.left - 5, y, dy: ".35em" }, text));
        }
        const full = this.y[1] === this.allY[1];
        for (const [e, at, y] of this.names) {
          e.setAttribute("y", full ? y : bottom - (at - this.y[0]) * sy - 3);
          e.classList.toggle("off", !full && at > this.y[1]);
        }
      }
      const whole = low === this.all[0] && high === this.all[1];
      for (const [e, at, x] of this.walls) {
        e.setAttribute("x", whole ? x : this.left + (at - low) * sx + (e.classList.contains("start") ? 4 : -4));
        e.classList.toggle("off", !whole && (at < low || at > high));
      }
      this.xs.replaceChildren();
      for (const [v, text] of this.marks(0, low, high, 6)) {
        const x = this.left + (v - low) * sx;
        this.xs.append(make("line", { x1: x, x2: x, y1: bottom, y2: bottom + 4 }), make("text", { x, y: bottom + 15 }, text));
      }
    }
  }

  // Of charts over time those of one run, or of all together, are shown.
  const runs = document.getElementById("runs");
  if (runs) {
    const choose = () => document.querySelectorAll("figure[data-runs]").forEach((f) => { f.hidden = f.dataset.runs !== runs.value; });
    runs.addEventListener("change", choose);
    choose();
  }

  // A name in a legend shows and hides its curve.
  const toggling = (key, figure) => {
    key.disabled = false;
    key.addEventListener("click", () => {
      const on = key.getAttribute("aria-pressed") !== "true";
      key.setAttribute("aria-pressed", on);
      for (const path of figure.querySelectorAll("path.line, path.band"))
        if ((path.dataset.of ?? path.dataset.name) === key.dataset.name) path.classList.toggle("off", !on);
    });
  };

  const charts = [];
  // Charts of times move together; distributions have scales of their own.
  const zoom = (chart, range) => {
    if (!(range[1] - range[0] > 1e-6 * (chart.all[1] - chart.all[0]))) return;
    for (const c of chart.group === "time" ? charts.filter((o) => o.group === "time") : [chart]) { c.leave(); c.draw(range); }
    say.textContent = `${chart.text(range[0], 0)} to ${chart.text(range[1], 0)}`;
  };
  for (const figure of document.querySelectorAll("figure[data-group]")) {
    for (const panel of figure.querySelectorAll(".panel")) charts.push(new Chart(panel, figure.dataset.group));
    for (const key of figure.querySelectorAll(".key")) toggling(key, figure);
  }
  // What the scripts of further kinds of pages use.
  window.spillgate = { Chart, make, tidy, toggling };
})();
