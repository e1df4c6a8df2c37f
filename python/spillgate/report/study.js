// The page of a study: a point that is chosen, maps, and charts over the axes.
"use strict";
(() => {
  const { Chart, make, tidy, toggling } = window.spillgate;
  const data = JSON.parse(document.getElementById("data").textContent);
  const say = document.getElementById("say");
  const byId = (id) => document.getElementById(id);
  const WORDS = { p: "pass", u: "undecided", f: "fail" };
  const COLORS = 8, DASHES = 8, MARKERS = 4;
  const MOST_PANELS = 24;
  const el = (name, attributes, ...children) => {
    const e = document.createElement(name);
    for (const key in attributes) e.setAttribute(key, attributes[key]);
    e.append(...children);
    return e;
  };
  const all = data.names.map((_, i) => i);
  const judged = data.requirements.length > 0;
  const word = (letter) => WORDS[letter] || "";
  const verdictOf = (letter, said) => {
    const v = word(letter);
    return v ? el("span", { class: "v " + v }, el("span", { class: "mark", "aria-hidden": "true" }, data.marks[v]), " " + (said || v)) : el("span", {}, "–");
  };

  // Values as the tables of other pages have them: a unit and decimals a metric.
  const fixed = (v, decimals) => {
    if (v === null || v === undefined) return "–";
    if (v === 0) return "0";
    const text = Math.abs(v).toFixed(decimals);
    if (Number(text) === 0) return "<" + (10 ** -decimals).toFixed(decimals);
    return (v < 0 ? "−" : "") + text;
  };
  const valued = (cls, metric, i) => {
    const mean = data.mean[cls][metric];
    if (!mean) return "–";
    const text = fixed(mean[i], data.metrics[metric].decimals);
    const half = data.half[cls][metric] && data.half[cls][metric][i];
    const shown = half ? half.toFixed(data.metrics[metric].decimals) : "0";
    return Number(shown) > 0 && text[0] !== "<" ? `${text} ±${shown}` : text;
  };

  // ---- Charts -------------------------------------------------------------------------------
  const LEFT = 54, TOP = 22, WIDTH = 412, HEIGHT = 158;
  const at = (axis, v) => axis.log ? Math.log10(v) : v;
  const told = (axis) => axis.unit ? `${axis.label} (${axis.unit})` : axis.label;
  const extent = (axis, values, pad) => {
    const found = values.map((v) => at(axis, v));
    let low = Math.min(...found), high = Math.max(...found);
    if (!(high > low)) { low -= axis.log ? 0.5 : Math.abs(low) / 2 || 0.5; high += axis.log ? 0.5 : Math.abs(high) / 2 || 0.5; }
    const more = pad * (high - low);
    return [low - more, high + more];
  };
  // One chart of curves and dots: [{name, style, points: [[x, y, number]], band, line}].
  const plot = (title, x, y, curves, levels, onChoose) => {
    const panel = el("div", { class: "panel", role: "group", "aria-label": title }, el("h4", {}, title));
    const svg = make("svg", { class: "plot", viewBox: "0 0 480 216", role: "img" });
    svg.setAttribute("aria-label", `${title}: ${told(y)} over ${told(x)}, ${curves.length === 1 ? "one series" : curves.length + " series"}`);
    svg.append(make("text", { class: "unit", x: LEFT, y: 12 }, told(y)), make("text", { class: "unit end", x: LEFT + WIDTH, y: 212 }, told(x)));
    svg.append(make("g", { class: "ys" }), make("g", { class: "xs" }));
    const view = svg.appendChild(make("svg", { class: "view", x: LEFT, y: TOP, width: WIDTH, height: HEIGHT }));
    const g = view.appendChild(make("g", { class: "data" }));
    const flat = curves.flatMap((c) => c.points);
    const xs = x.ends || extent(x, flat.map((p) => p[0]), 0.03);
    const ys = y.ends;
    const low = levels.filter((l) => at(y, l.y) <= ys[1]);
    for (const l of low) g.append(make("path", { class: "level", d: `M${xs[0]},${at(y, l.y)} ${xs[1]},${at(y, l.y)}` }));
    const place = ([a, b]) => `${at(x, a)},${at(y, b)}`;
    for (const c of curves) if (c.band) g.append(make("path", { class: `band ${c.style}`, "data-of": c.name, d: `M${c.band.map(place).join(" ")}Z` }));
    for (const c of curves) {
      const d = c.line ? `M${c.points.map(place).join(" ")}${c.points.length === 1 ? "h0" : ""}` : c.points.map((p) => `M${place(p)}h0`).join(" ");
      const path = make("path", { class: `line${c.line ? "" : " dots"}${flat.length > 150 ? " many" : ""} ${c.style}`, "data-name": c.name, d });
      path.points = c.points.map((p) => [at(x, p[0]), at(y, p[1]), p[2]]);
      g.append(path);
      // A hole makes another marker of the same dot.
      if (!c.line && / m[23]/.test(c.style)) g.append(make("path", { class: `hole band ${c.style}`, "data-of": c.name, d }));
    }
    const chosen = make("path", { class: "ring" });
    g.append(chosen);
    svg.append(make("line", { class: "axis", x1: LEFT, x2: LEFT + WIDTH, y1: TOP + HEIGHT, y2: TOP + HEIGHT }));
    svg.dataset.x = xs.join(" ");
    svg.dataset.y = ys.join(" ");
    svg.dataset.log = `${+!!x.log}${+!!y.log}`;
    svg.dataset.units = `${x.unit || ""}|${y.unit || ""}`;
    panel.append(svg, el("div", { class: "tip", hidden: "" }));
    const chart = new Chart(panel, y.group || "along");
    chart.places = x.names;
    chart.draw(chart.all);
    chart.ring = (i) => {
      const p = chart.lines.flatMap((l) => l.points).find((o) => o[2] === i);
      chosen.setAttribute("d", p ? `M${p[0]},${p[1]}h0` : "");
    };
    if (onChoose) choosing(chart, onChoose);
    return chart;
  };
  // A click or Enter on a chart chooses the point nearest to it.
  const choosing = (chart, onChoose) => {
    const { panel, view } = chart;
    const shown = () => chart.lines.filter((l) => !l.classList.contains("off")).flatMap((l) => l.points);
    let from = 0;
    panel.addEventListener("pointerdown", (e) => { from = e.clientX; });
    panel.addEventListener("click", (e) => {
      if (Math.abs(e.clientX - from) > 4) return;
      const box = view.querySelector("g.data").getScreenCTM();
      let best = null, near = 30 ** 2;
      for (const p of shown()) {
        const dx = box.a * p[0] + box.e - e.clientX, dy = box.d * p[1] + box.f - e.clientY;
        if (dx * dx + dy * dy < near) { near = dx * dx + dy * dy; best = p; }
      }
      if (best) onChoose(best[2]);
    });
    panel.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || e.target !== panel || chart.x === undefined) return;
      let best = null;
      for (const p of shown()) if (!best || Math.abs(p[0] - chart.x) < Math.abs(best[0] - chart.x)) best = p;
      if (best) onChoose(best[2]);
    });
  };
  const styleOf = (k, line) => line
    ? `s${k % COLORS}${k < COLORS ? "" : ` t${Math.floor(k / COLORS)}`}`
    : `s${k % COLORS} m${(k + Math.floor(k / COLORS)) % MARKERS}`;
  const legend = (box, figure, curves, levels) => {
    box.replaceChildren();
    for (const c of curves.length > 1 ? curves : []) {
      const swatch = make("svg", { class: "swatch", viewBox: "0 0 34 10", "aria-hidden": "true" });
      const d = c.line ? "M1,5 33,5" : "M17,5h0";
      swatch.append(make("path", { class: `line${c.line ? "" : " dots"} ${c.style}`, d }));
      if (!c.line && / m[23]/.test(c.style)) swatch.append(make("path", { class: `hole ${c.style}`, d }));
      const key = el("button", { type: "button", class: "key", "data-name": c.name, "aria-pressed": "true" }, swatch, c.name);
      box.append(key);
      toggling(key, figure);
    }
    for (const l of levels) {
      const swatch = make("svg", { class: "swatch", viewBox: "0 0 34 10", "aria-hidden": "true" });
      swatch.append(make("path", { class: "level", d: "M1,5 33,5" }));
      box.append(el("span", { class: "note" }, swatch, `required: ${l.label}`));
    }
  };

  // ---- Along the axes -----------------------------------------------------------------------
  const select = (label, options, value) => {
    const e = el("select", {}, ...options.map(([v, text]) => el("option", { value: v }, text)));
    e.value = value;
    byId("choices").append(el("label", {}, label + " ", e));
    return e;
  };
  const axisOptions = data.axes.map((a, i) => [String(i), a.name]).filter(([i]) => data.axes[i].labels.length > 1);
  const has = (cls, metric) => !!data.mean[cls][metric];
  const measured = data.metrics.map((_, m) => m).filter((m) => data.classes.some((_, c) => has(c, m)));
  // The groups of points by an axis, the variant or the verdict: name and, for a point, its number.
  const grouping = (by, fine, fixed) => {
    if (by === "variant") return [data.variants.map((v) => v || "–"), (i) => data.variant[i]];
    if (by === "verdict") {
      const letters = ["p", "u", "f"].filter((l) => data.verdict.includes(l));
      return [letters.map(word), (i) => letters.indexOf(data.verdict[i]), letters];
    }
    if (by === "") return [[""], () => 0];
    if (by === "all") return combined(fixed);
    const axis = data.axes[+by];
    if (fine >= axis.labels.length) return [axis.labels, (i) => axis.places[i]];
    const number = {};
    axis.groups.forEach(([, places], g) => places.forEach((p) => { number[p] = g; }));
    return [axis.groups.map((g) => g[0]), (i) => number[axis.places[i]]];
  };
  // Every combination of the variant and the axes that are neither across nor a chart each.
  const combined = (used) => {
    const rest = data.axes.map((_, i) => i).filter((i) => !used.includes(String(i)) && data.axes[i].labels.length > 1);
    const of = (i) => [...(data.several && !used.includes("variant") ? [data.variants[data.variant[i]]] : []), ...rest.map((a) => `${data.axes[a].name} ${data.axes[a].labels[data.axes[a].places[i]]}`)].join(", ");
    const names = [...new Set(all.map(of))];
    const number = new Map(names.map((n, i) => [n, i]));
    return [names, (i) => number.get(of(i))];
  };
  const start = (() => {
    const hard = data.requirements[data.hardest] || {};
    const metric = data.metrics.findIndex((m) => m.name === hard.metric);
    const usual = data.metrics.findIndex((m) => m.name === "owd_p99");
    const cls = Math.max(0, data.classes.indexOf(hard.class));
    const over = data.order.find((i) => data.axes[i].at && data.axes[i].labels.length > 1) ?? data.order[0];
    const rest = data.order.filter((i) => i !== over && data.axes[i].labels.length > 1);
    const panels = data.full && (data.several ? rest.length : rest.length > 1) && data.axes[rest[0]].labels.length <= MOST_PANELS ? String(rest[0]) : "";
    const by = data.full ? (combined([String(over), panels])[0].length <= 2 * COLORS ? "all" : data.several ? "variant" : String(rest[1] ?? rest[0] ?? "")) : data.several ? "variant" : judged ? "verdict" : "";
    return { metric: metric >= 0 ? metric : usual >= 0 ? usual : measured[0], cls, over: data.full || axisOptions.length < 2 ? String(over) : "each", by, panels };
  })();
  const charts = [];
  const controls = {};
  if (measured.length && axisOptions.length) {
    controls.metric = select("Show", [...measured.map((m) => [String(m), data.metrics[m].head]), ...axisOptions.filter(([i]) => data.axes[i].at).map(([i, n]) => ["a" + i, `place on ${n}`])], String(start.metric));
    controls.cls = select("of class", data.classes.map((c, i) => [String(i), c]), String(start.cls));
    controls.over = select("over", [...(axisOptions.length > 1 ? [["each", "each axis"]] : []), ...axisOptions], start.over);
    controls.by = select("Colors by", [["", "nothing"], ...(data.several ? [["variant", "variant"]] : []), ...(judged ? [["verdict", "verdict of the point"]] : []), ...axisOptions, ...(data.full ? [["all", "all that differs"]] : [])], start.by);
    controls.panels = select("A chart for each", [["", "–"], ...(data.several ? [["variant", "variant"]] : []), ...axisOptions], start.panels);
    controls.log = el("input", { type: "checkbox" });
    byId("choices").append(el("label", {}, controls.log, " logarithmic"));
    for (const c of Object.values(controls)) c.addEventListener("change", () => draw());
  }
  const shownAxis = (i) => {
    const a = data.axes[i];
    if (!a.at) return { label: a.name, unit: "", names: a.labels, of: (p) => a.places[p] };
    const low = Math.min(...a.at), high = Math.max(...a.at);
    return { label: a.name, unit: a.unit, log: low > 0 && high > 20 * low, of: (p) => a.at[a.places[p]] };
  };
  const draw = () => {
    const show = controls.metric.value, cls = +controls.cls.value, by = controls.by.value;
    const each = controls.over.value === "each";
    const across = (each ? data.order.filter((i) => data.axes[i].labels.length > 1) : [+controls.over.value]).map(shownAxis);
    const other = show[0] === "a";
    controls.cls.disabled = other;
    const metric = other ? null : data.metrics[+show];
    const y = other ? shownAxis(+show.slice(1)) : { label: metric.head, unit: metric.unit, log: controls.log.checked };
    const mean = other ? null : data.mean[cls][+show], half = other ? null : data.half[cls][+show];
    const value = other ? y.of : (i) => mean && mean[i];
    const fits = (v) => v !== null && v !== undefined && (!y.log || v > 0);
    const points = all.filter((i) => fits(value(i)));
    const [names, group, letters] = grouping(by, COLORS * DASHES, [controls.over.value, controls.panels.value]);
    const [titles, part] = grouping(controls.panels.value, MOST_PANELS);
    const lined = data.full && !each && !other && by !== "verdict";
    const levels = other ? [] : data.requirements.filter((r) => r.limit !== null && r.metric === metric.name && r.class === data.classes[cls]).map((r) => ({ y: r.limit, label: r.text }));
    const values = points.map(value);
    const tops = half && lined && !y.log ? points.map((i) => value(i) + (half[i] || 0)) : values;
    const near = levels.filter((l) => fits(l.y) && l.y <= 3 * Math.max(...values)).map((l) => l.y);
    if (other || y.log) y.ends = points.length ? extent(y, [...values, ...(y.log ? near : [])], 0.05) : [0, 1];
    else {
      // From 0, unless that would press all values into the upper half.
      const top = Math.max(0, ...tops, ...near), low = Math.min(...values);
      y.ends = low > 0.6 * Math.max(...values) && top > low ? [low - 0.1 * (top - low), top + 0.05 * (top - low) || 1] : [Math.min(0, low), top * 1.05 || 1];
    }
    for (const x of across) x.ends = points.length ? extent(x, points.map(x.of), x.names ? 0.07 : 0.03) : [0, 1];
    const parts = titles.map(() => names.map(() => []));
    for (const i of points) parts[part(i)][group(i)].push(i);
    const box = byId("plots").querySelector(".panels");
    box.replaceChildren();
    charts.length = 0;
    const title = other ? "points" : data.classes[cls];
    let shown = [], dropped = 0;
    titles.forEach((t, k) => across.forEach((x) => {
      let curves = parts[k].map((of, g) => curve(x, of, g, names[g] || title));
      dropped = Math.max(dropped, curves.filter((c, g) => c && g >= (c.line ? COLORS * DASHES : COLORS * MARKERS)).length);
      curves = curves.filter((c, g) => c && g < (c.line ? COLORS * DASHES : COLORS * MARKERS));
      for (const c of curves) if (!shown.some((s) => s.name === c.name)) shown.push(c);
      if (curves.length) {
        const facet = controls.panels.value === "" ? "" : `, ${controls.panels.value === "variant" ? "" : controls.panels.selectedOptions[0].text + " "}${t}`;
        const named = title + (each ? ` over ${x.label}` : "") + facet;
        const chart = plot(named, x, y, curves, levels, choose);
        charts.push(chart);
        box.append(chart.panel);
      }
    }));
    function curve(x, of, g, name) {
      if (!of.length) return null;
      const sorted = of.slice().sort((a, b) => x.of(a) - x.of(b));
      const at = sorted.map((i) => x.of(i));
      // A line where each place has one point; where others hide behind it, dots.
      const line = lined && !x.names && new Set(at).size === at.length;
      const style = letters ? "v" + letters[g] + ["", " m2", " m1"]["puf".indexOf(letters[g])] : styleOf(g, line);
      let band = null;
      if (line && half && !y.log && sorted.every((i) => half[i] !== null)) {
        const edge = (sign) => sorted.map((i) => [x.of(i), Math.max(0, value(i) + sign * half[i])]);
        band = [...edge(1), ...edge(-1).reverse()];
      }
      return { name, style, line, band, points: sorted.map((i) => [x.of(i), value(i), i]) };
    }
    legend(byId("plots").querySelector(".legend"), byId("plots"), shown, levels.filter((l) => near.includes(l.y)));
    const said = [];
    if (!points.length) said.push(`Nothing was measured: ${other ? "" : `${data.classes[cls]} has no ${metric.head}`}.`);
    else if (shown.some((c) => !c.line)) said.push(other ? "A dot is a point of the study." : "A dot is the mean over the runs of one point.");
    else said.push("A line joins the means over the runs" + (shown.some((c) => c.band) ? "; the band is their 95 % interval." : "."));
    if (levels.some((l) => !near.includes(l.y))) said.push("A limit far above all values is not drawn.");
    if (dropped) said.push(`${dropped} more groups are not drawn: there are not enough colors and dashes.`);
    if (mean && y.log && mean.some((v) => v === 0)) said.push("Points with 0 are not on a logarithmic axis.");
    byId("plots-said").textContent = said.join(" ");
    charts.forEach((c) => c.ring(current));
  };

  // ---- One point ----------------------------------------------------------------------------
  let current = -1;
  const options = byId("point");
  options.append(...all.map((i) => el("option", { value: String(i) }, (judged ? (data.marks[word(data.verdict[i])] || "·") + " " : "") + data.names[i])));
  const table = (caption, head, rows, cls) => {
    const region = el("div", { class: rows.length > 24 ? "scroll tall" : "scroll", tabindex: "0", role: "region", "aria-label": caption });
    const cells = (row) => row.map((c, k) => {
      const e = el(k ? "td" : "th", k ? {} : { scope: "row" }, ...(Array.isArray(c) ? c : [c]));
      if (k && typeof c === "object") e.className = "t";
      return e;
    });
    region.append(el("table", { class: cls || "numbers" }, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...head.map((h, k) => el("th", { scope: "col", class: !k || (rows[0] && typeof rows[0][k] === "object") ? "t" : "" }, ...(Array.isArray(h) ? h : [h]))))), el("tbody", {}, ...rows.map((r) => el("tr", {}, ...cells(r))))));
    return region;
  };
  const details = (i) => {
    const box = byId("one");
    box.replaceChildren(el("h3", {}, judged ? verdictOf(data.verdict[i]) : "", (judged ? " · " : "") + data.names[i]));
    const places = [...(data.several ? [["variant", data.variants[data.variant[i]]]] : []), ...data.axes.map((a) => [a.name, a.labels[a.places[i]]])];
    box.append(el("dl", {}, ...places.map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v)))));
    if (judged) box.append(table("What is required at this point", ["requirement", "measured", "verdict"], data.requirements.map((r) => {
      const note = r.kinds[r.notes[i]];
      return [`${r.whose}: ${r.text}`, r.measured[i] || "–", [verdictOf(r.verdict[i], r.said[r.verdict[i]]), note ? "; " + note : ""]];
    })));
    const rows = measured.filter((m) => data.classes.some((_, c) => has(c, m) && data.mean[c][m][i] !== null)).map((m) => {
      const { head, unit } = data.metrics[m];
      return [[head + " ", el("span", { class: "u" }, unit)], ...data.classes.map((_, c) => valued(c, m, i))];
    });
    if (data.losses) data.losses.causes.forEach((cause, k) => {
      const texts = data.classes.map((c) => ((data.losses.of[c] || {})[i] || []).find((l) => l[0] === k)?.[1]);
      if (texts.some((t) => t)) rows.push([[`lost: ${cause}`], ...texts.map((t) => t || "0")]);
    });
    const side = box.appendChild(el("div", { class: data.classes.length > 4 ? "" : "side" }, table("What each class got at this point, ± half of the 95 % interval", ["", ...data.classes], rows)));
    const compared = data.differences[i] || [];
    if (compared.length) box.append(table("Compared run by run with other variants at the same place, where the 95 % interval of the difference does not contain zero", ["class and metric", "difference", "which is", "compared with"], compared.map(([other, cls, head, text, said]) => [`${cls}: ${head}`, text, [said], [data.variants[data.variant[other]]]])));
    const curves = data.delays ? data.classes.flatMap((c, k) => {
      const owd = data.delays.of[k][i];
      const points = owd ? owd.map((v, j) => [v, data.delays.later[j], i]).filter((p) => p[0] > 0 && p[1] > 0) : [];
      return points.length > 1 ? [{ name: c, line: true, style: styleOf(k, true), points }] : [];
    }).slice(0, COLORS * DASHES) : [];
    if (curves.length) {
      const low = Math.min(...curves.flatMap((c) => c.points.map((p) => p[1])));
      const x = { label: "one-way delay", unit: data.delays.unit, log: true };
      const y = { label: "packets later than x", unit: "%", log: true, ends: [Math.log10(low), 2], group: "delay" };
      const figure = el("figure", {}, el("figcaption", {}, el("p", {}, "How many packets of each class take longer than x, from all runs of this point together.")), el("div", { class: "legend" }), el("div", { class: "panels" }));
      figure.lastChild.append(plot("Packets later than x", x, y, curves, []).panel);
      legend(figure.querySelector(".legend"), figure, curves, []);
      side.append(figure);
    }
  };
  const choose = (i, quiet) => {
    current = i;
    options.value = String(i);
    byId("before").disabled = i === 0;
    byId("after").disabled = i === all.length - 1;
    details(i);
    charts.forEach((c) => c.ring(i));
    document.querySelectorAll("[aria-selected=true]").forEach((e) => e.setAttribute("aria-selected", "false"));
    document.querySelectorAll(`.map td[data-p="${i}"]`).forEach((e) => { e.setAttribute("aria-selected", "true"); roving(e); });
    document.querySelector("#every tr.now")?.classList.remove("now");
    rowsOf[i]?.classList.add("now");
    if (!quiet) {
      history.replaceState(null, "", "#point=" + encodeURIComponent(data.names[i]));
      say.textContent = `${data.names[i]}: ${word(data.verdict[i]) || "chosen"}; details below`;
    }
  };
  options.addEventListener("change", () => choose(+options.value));
  byId("before").addEventListener("click", () => choose(current - 1));
  byId("after").addEventListener("click", () => choose(current + 1));

  // ---- Maps ---------------------------------------------------------------------------------
  const roving = (cell) => {
    cell.closest("table").querySelectorAll("td[tabindex='0']").forEach((e) => { e.tabIndex = -1; });
    cell.tabIndex = 0;
  };
  const figures = [...document.querySelectorAll("figure.map")];
  for (const figure of figures) {
    for (const t of figure.querySelectorAll("table.cells")) {
      t.setAttribute("role", "grid");
      t.setAttribute("aria-label", t.parentNode.getAttribute("aria-label"));
      const first = t.querySelector("td[data-p]");
      if (first) { first.tabIndex = 0; t.parentNode.removeAttribute("tabindex"); }
    }
    figure.addEventListener("click", (e) => {
      const cell = e.target.closest("td[data-p]");
      if (cell) { choose(+cell.dataset.p); cell.focus({ preventScroll: true }); }
    });
    figure.addEventListener("keydown", (e) => {
      const cell = e.target.closest("td[data-p]");
      if (!cell || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === "Enter" || e.key === " ") { choose(+cell.dataset.p); e.preventDefault(); return; }
      const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
      if (!step) return;
      e.preventDefault();
      const rows = [...cell.closest("tbody").rows];
      let r = rows.indexOf(cell.parentNode), c = cell.cellIndex;
      for (;;) {
        r += step[0]; c += step[1];
        const next = rows[r] && rows[r].cells[c];
        if (!next) return;
        if (next.dataset.p !== undefined) { roving(next); next.focus(); return; }
      }
    });
  }
  // Names of the cells; of maps that are shown, since there may be thousands.
  const label = (figure) => {
    if (figure.dataset.labeled) return;
    figure.dataset.labeled = "1";
    for (const cell of figure.querySelectorAll("td[data-p]")) {
      cell.title = `${data.names[+cell.dataset.p]}: ${cell.className || "no verdict"}`;
      cell.setAttribute("aria-label", cell.title);
    }
  };
  const mapOf = byId("map-of");
  if (mapOf) {
    const chooseMap = () => figures.forEach((f) => {
      f.hidden = f.dataset.map !== mapOf.value;
      if (!f.hidden) label(f);
    });
    mapOf.addEventListener("change", chooseMap);
    chooseMap();
  }

  // ---- The table of all points ---------------------------------------------------------------
  const every = byId("every");
  const rowsOf = [...every.tBodies[0].rows];
  rowsOf.forEach((row, i) => { row.dataset.i = i; });
  every.tBodies[0].addEventListener("click", (e) => { const row = e.target.closest("tr"); if (row && !String(getSelection())) choose(+row.dataset.i); });
  const axisAt = (column) => data.axes[column - (data.several ? 1 : 0)];
  const key = (row, column) => {
    const axis = axisAt(column);
    if (axis && axis.at) return axis.at[axis.places[+row.dataset.i]];
    return row.cells[column].textContent;
  };
  // Texts of one column may have units of their own: 980 us and 1.2 ms.
  const scales = { p: 1e-12, n: 1e-9, u: 1e-6, "µ": 1e-6, "μ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9 };
  const numeric = (text) => {
    const found = /^<?([−-]?[\d.,]+(?:e[−-]?\d+)?)(?: ±\S+)?(?: (\S+))?/.exec(text);
    if (!found) return null;
    const unit = found[2] || "";
    return Number(found[1].replace("−", "-").replaceAll(",", "")) * (/^[pnuµμmkMG](s|b\/s|B)$/.test(unit) ? scales[unit[0]] : 1);
  };
  [...every.tHead.rows[0].cells].forEach((th, column) => {
    const button = el("button", { type: "button", class: "sort" }, ...th.childNodes);
    th.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = th.getAttribute("aria-sort") === "ascending";
      for (const other of every.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = rowsOf.map((row) => {
        const k = key(row, column);
        return [typeof k === "number" ? k : numeric(k) ?? k, row];
      });
      const order = (a, b) => typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      keyed.sort((a, b) => (down ? -1 : 1) * order(a[0], b[0]) || a[1].dataset.i - b[1].dataset.i);
      every.tBodies[0].append(...keyed.map((k) => k[1]));
      say.textContent = `sorted by ${th.textContent}, ${down ? "largest" : "smallest"} first`;
    });
  });

  // ---- What the address names ---------------------------------------------------------------
  const named = () => {
    if (!location.hash.startsWith("#point=")) return -1;
    try { return data.names.indexOf(decodeURIComponent(location.hash.slice(7))); } catch { return -1; }
  };
  const first = (() => {
    const worst = data.names.indexOf(data.worst);
    return worst >= 0 ? worst : 0;
  })();
  if (controls.metric) draw(); else byId("along").hidden = true;
  if (all.length) {
    choose(named() >= 0 ? named() : first, true);
    if (named() >= 0) byId("chosen").scrollIntoView();
  }
  addEventListener("hashchange", () => { if (named() >= 0) { choose(named(), true); byId("chosen").scrollIntoView(); } });
})();
