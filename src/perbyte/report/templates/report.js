// Sorting, filtering, units, the list of all cells, tooltips and the theme of one report. No library, no
// network, nothing evaluated; text reaches the page through textContent only.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  var $ = function (selector, within) { return (within || document).querySelector(selector); };
  var $$ = function (selector, within) { return Array.prototype.slice.call((within || document).querySelectorAll(selector)); };
  var natural = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // Theme: the system's until the reader chooses.
  var wish = null;
  try { wish = localStorage.getItem("perbyte-theme"); } catch (e) { wish = null; }
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  var button = $("#theme");
  function theme() {
    var dark = wish ? wish === "dark" : system.matches;
    root.setAttribute("data-theme", dark ? "dark" : "light");
    button.textContent = dark ? "Light" : "Dark";
    button.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
  }
  button.addEventListener("click", function () {
    wish = root.getAttribute("data-theme") === "dark" ? "light" : "dark";
    try { localStorage.setItem("perbyte-theme", wish); } catch (e) { /* a reader may forbid it */ }
    theme();
  });
  system.addEventListener("change", theme);
  theme();

  // Undefined and null sort last in either direction.
  function compare(a, b, sign) {
    var noA = a === null || a === undefined || a === "", noB = b === null || b === undefined || b === "";
    if (noA || noB) { return noA - noB; }
    if (typeof a === "number" && typeof b === "number") { return sign * (a - b); }
    return sign * natural.compare(String(a), String(b));
  }

  function heads(table, sort) {
    var sorted = { key: null, sign: 1 };
    $$("th[data-key]", table).forEach(function (head) {
      $("button", head).addEventListener("click", function () {
        var key = head.getAttribute("data-key");
        sorted.sign = sorted.key === key ? -sorted.sign : 1;
        sorted.key = key;
        $$("th[data-key]", table).forEach(function (other) {
          if (other === head) { other.setAttribute("aria-sort", sorted.sign > 0 ? "ascending" : "descending"); }
          else { other.removeAttribute("aria-sort"); }
        });
        sort(key, sorted.sign);
      });
    });
    return sorted;
  }

  function words(text) { return text.toLowerCase().split(/\s+/).filter(Boolean); }
  function has(text, wanted) { return wanted.every(function (word) { return text.indexOf(word) >= 0; }); }
  function counted(shown, total) {
    return (shown === total ? "all " + total : shown + " of " + total) + (total === 1 ? " row" : " rows");
  }

  // Claims, by how they fared.
  $$("#outcomes button").forEach(function (chosen, at, all) {
    chosen.addEventListener("click", function () {
      var kind = chosen.getAttribute("data-kind");
      all.forEach(function (other) { other.setAttribute("aria-pressed", String(other === chosen)); });
      $$(".claims > details").forEach(function (claim) {
        claim.hidden = kind !== "" && claim.getAttribute("data-kind") !== kind;
      });
    });
  });

  // Paper cannot be unfolded: there, every claim shows its evidence.
  var unfolded = [];
  window.addEventListener("beforeprint", function () {
    unfolded = $$(".claims > details:not([open])");
    unfolded.forEach(function (one) { one.open = true; });
  });
  window.addEventListener("afterprint", function () { unfolded.forEach(function (one) { one.open = false; }); });

  // Tables of results: every row is in the page already.
  $$("section[data-pivot]").forEach(function (section) {
    var table = $("table", section), body = table.tBodies[0];
    var rows = $$("tr", body).map(function (row) {
      return {
        row: row,
        names: [row.cells[0].textContent, row.cells[1].textContent],
        text: (row.cells[0].textContent + " " + row.cells[1].textContent + " " + (row.getAttribute("data-more") || "")).toLowerCase(),
        cells: $$("td", row).map(function (cell) {
          var given = cell.getAttribute("data-u");
          return { cell: cell, values: given ? given.split("|").map(function (one) { return one.split(";"); }) : null };
        })
      };
    });
    var unit = +$("select", section).value, output = $("output", section), filter = $("input", section);
    function value(row, key) {
      if (key < 2) { return row.names[key]; }
      var values = row.cells[key - 2].values;
      return values && values[unit][1] !== "" ? +values[unit][1] : null;
    }
    var sorted = heads(table, function (key, sign) {
      rows.sort(function (a, b) { return compare(value(a, +key), value(b, +key), sign); });
      var all = document.createDocumentFragment();
      rows.forEach(function (one) { one.row.classList.toggle("group", false); all.appendChild(one.row); });
      body.appendChild(all);
    });
    $("select", section).addEventListener("change", function (event) {
      unit = +event.target.value;
      rows.forEach(function (one) {
        one.cells.forEach(function (cell) {
          if (cell.values) { $(".v", cell.cell).textContent = cell.values[unit][0]; }
        });
      });
      $(".unit", section).textContent = event.target.selectedOptions[0].textContent;
      if (sorted.key !== null) {
        sorted.sign = -sorted.sign;
        $("th[data-key='" + sorted.key + "'] button", table).click();
      }
    });
    // Of an algorithm with many libraries the fastest and one's own stand there; the filter looks at all.
    var unfold = $("button.unfold", section), open = !unfold;
    function show() {
      var wanted = words(filter.value), shown = 0;
      rows.forEach(function (one) {
        var fits = has(one.text, wanted) && (open || wanted.length > 0 || !one.row.hasAttribute("data-folded"));
        one.row.hidden = !fits;
        shown += fits;
      });
      output.textContent = counted(shown, rows.length);
    }
    filter.addEventListener("input", show);
    if (unfold) {
      var more = unfold.textContent;
      unfold.addEventListener("click", function () {
        open = !open;
        unfold.setAttribute("aria-pressed", String(open));
        unfold.textContent = open ? "Fold them again" : more;
        show();
      });
      window.addEventListener("beforeprint", function () { rows.forEach(function (one) { one.row.hidden = false; }); });
      window.addEventListener("afterprint", show);
    }
    show();
  });

  // Plain lists: every row is in the page; a part with a number sorts by it, another one by its text.
  $$("section[data-list]").forEach(function (section) {
    var table = $("table", section), body = table.tBodies[0], output = $("output", section), filter = $("input", section);
    var rows = $$("tr", body).map(function (row) { return { row: row, text: row.textContent.toLowerCase() }; });
    function value(row, key) {
      var cell = row.cells[key], given = cell.getAttribute("data-v");
      if (given !== null) { return +given; }
      return cell.textContent === "–" ? null : cell.textContent;
    }
    heads(table, function (key, sign) {
      rows.sort(function (a, b) { return compare(value(a.row, +key), value(b.row, +key), sign); });
      var all = document.createDocumentFragment();
      rows.forEach(function (one) { one.row.classList.remove("group"); all.appendChild(one.row); });
      body.appendChild(all);
    });
    if (!filter) { return; }
    filter.addEventListener("input", function () {
      var wanted = words(filter.value), shown = 0;
      rows.forEach(function (one) {
        var fits = has(one.text, wanted);
        one.row.hidden = !fits;
        shown += fits;
      });
      output.textContent = counted(shown, rows.length);
    });
    output.textContent = counted(rows.length, rows.length);
  });

  // The list of all cells: data in the page, a hundred rows drawn at a time, so that thousands stay quick.
  var given = $("#cells-data"), data = given ? JSON.parse(given.textContent) : null, PAGE = 100, FOLDED = 70;
  if (data) { (function () {
    var section = $("#cells"), table = $("table", section), body = table.tBodies[0];
    var filter = $("input", section), output = $("output", section), pager = $(".pager", section);
    var records = data.rows.map(function (one) {
      return { given: one, text: one.map(function (part) { return Array.isArray(part) ? part[1] : part; }).join(" ").toLowerCase() };
    });
    var order = records.slice(), kept = order, page = 0, printing = false;
    function folded(text) {
      var all = document.createElement("details"), head = document.createElement("summary"), space = text.lastIndexOf(" ", FOLDED);
      var end = space > 0 ? space : FOLDED;  // the space goes with the rest: both together are the text, to the letter
      head.textContent = text.slice(0, end);
      all.appendChild(head);
      all.appendChild(document.createTextNode(text.slice(end)));
      return all;
    }
    function sortable(part) { return Array.isArray(part) ? part[0] : part; }
    function draw() {
      var all = document.createDocumentFragment();
      (printing ? kept : kept.slice(page * PAGE, page * PAGE + PAGE)).forEach(function (record) {
        var row = document.createElement("tr");
        record.given.forEach(function (part, index) {
          var cell = document.createElement(index === 0 ? "th" : "td");
          if (index === 0) { cell.scope = "row"; }
          cell.className = data.kinds[index] + (data.bad.indexOf(part) >= 0 ? " bad" : "");
          // A sheet has no room for notes in words: it gets their marks, which the legend explains. On a screen long
          // notes are folded, lest a row be as high as what stands beyond the edge of its table.
          var notes = data.kinds[index] === "notes", text = Array.isArray(part) ? part[printing && notes ? 0 : 1] : part;
          if (notes && text && text.length > FOLDED) { cell.appendChild(folded(text)); } else { cell.textContent = text; }
          row.appendChild(cell);
        });
        all.appendChild(row);
      });
      body.replaceChildren(all);
      var pages = Math.max(Math.ceil(kept.length / PAGE), 1);
      output.textContent = counted(kept.length, records.length) + (pages > 1 ? ", page " + (page + 1) + " of " + pages : "");
      pager.hidden = pages < 2;
      $(".back", pager).disabled = page === 0;
      $(".on", pager).disabled = page >= pages - 1;
    }
    function choose() {
      var wanted = words(filter.value);
      kept = wanted.length ? order.filter(function (one) { return has(one.text, wanted); }) : order;
      page = 0;
      draw();
    }
    heads(table, function (key, sign) {
      order = order.slice().sort(function (a, b) { return compare(sortable(a.given[+key]), sortable(b.given[+key]), sign); });
      choose();
    });
    filter.addEventListener("input", choose);
    $(".back", pager).addEventListener("click", function () { page -= 1; draw(); });
    $(".on", pager).addEventListener("click", function () { page += 1; draw(); });
    // Paper cannot be paged through: there, all rows that the filter leaves are drawn.
    window.addEventListener("beforeprint", function () { printing = true; draw(); });
    window.addEventListener("afterprint", function () { printing = false; draw(); });
    draw();
  })(); }

  // Tooltips of figures, by pointer and by arrow keys.
  var tip = $("#tip"), now = null, pointer = "";
  function hide() {
    if (now) { now.classList.remove("now"); }
    now = null;
    tip.hidden = true;
  }
  function show(mark) {
    if (now === mark) { return; }
    hide();
    now = mark;
    mark.classList.add("now");
    tip.textContent = mark.getAttribute("data-tip");
    tip.hidden = false;
    place(mark);
  }
  function place(mark) {
    var box = mark.getBoundingClientRect(), own = tip.getBoundingClientRect();
    var left = Math.min(Math.max(box.left + box.width / 2 - own.width / 2, 8), window.innerWidth - own.width - 8);
    var above = box.top - own.height - 8;
    tip.style.left = Math.max(left, 8) + "px";
    tip.style.top = (above < 56 ? box.bottom + 8 : above) + "px";
  }
  $$("figure .draw").forEach(function (draw) {
    var marks = $$("[data-tip]", draw);
    draw.addEventListener("pointerover", function (event) {
      // A page that scrolls under a pointer at rest is not somebody who points.
      var at = event.clientX + "," + event.clientY;
      if (at === pointer) { return; }
      pointer = at;
      var mark = event.target.closest("[data-tip]");
      if (mark) { show(mark); } else { hide(); }
    });
    draw.addEventListener("pointerleave", hide);
    draw.addEventListener("blur", hide);
    draw.addEventListener("keydown", function (event) {
      var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") { hide(); }
      if (!step || !marks.length) { return; }
      event.preventDefault();
      var next = marks[(marks.indexOf(now) + step + marks.length) % marks.length] || marks[0];
      next.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(next);
    });
  });
  window.addEventListener("scroll", function () { if (now) { place(now); } }, { passive: true });
  // A drawing that is wider than its card says that there is more, until its end is in sight.
  function cues() {
    $$(".draw").forEach(function (draw) {
      draw.classList.toggle("more", draw.scrollWidth - draw.clientWidth - draw.scrollLeft > 4);
    });
  }
  $$(".draw").forEach(function (draw) { draw.addEventListener("scroll", cues, { passive: true }); });
  window.addEventListener("resize", cues);
  window.addEventListener("load", cues);
  cues();
})();
