// Search of a site: everything that has an address, from an index that is loaded when somebody begins to search. No
// server, no network; text reaches the page through textContent only.
(function () {
  "use strict";
  var box = document.getElementById("search"), input = box.querySelector("input"), hits = document.getElementById("hits");
  var MOST = 30, asked = false, chosen = -1;

  function load(then) {
    if (window.perbyteFound) { then(); return; }
    if (asked) { return; }
    asked = true;
    var script = document.createElement("script");
    script.src = box.getAttribute("data-up") + "assets/index.js";
    script.addEventListener("load", then);
    document.head.appendChild(script);
  }

  // A name that begins with what is typed comes first, then names that have it, then what has it among its words.
  function rank(entry, wanted) {
    var name = entry[1].toLowerCase(), all = (entry[0] + " " + name + " " + entry[2]).toLowerCase();
    if (!wanted.every(function (word) { return all.indexOf(word) >= 0; })) { return -1; }
    var whole = wanted.join(" ");
    return name === whole ? 0 : name.indexOf(whole) === 0 ? 1 : wanted.every(function (word) { return name.indexOf(word) >= 0; }) ? 2 : 3;
  }

  function show() {
    var wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean), found = [];
    chosen = -1;
    hits.replaceChildren();
    if (!wanted.length) { close(); return; }
    (window.perbyteFound || []).forEach(function (entry, place) {
      var at = rank(entry, wanted);
      if (at >= 0) { found.push([at, place, entry]); }
    });
    found.sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; });
    found.slice(0, MOST).forEach(function (one) {
      var entry = one[2], item = document.createElement("li"), link = document.createElement("a"), kind = document.createElement("small");
      link.href = box.getAttribute("data-up") + entry[3];
      link.textContent = entry[1];
      kind.textContent = entry[0];
      link.appendChild(kind);
      item.setAttribute("role", "option");
      item.appendChild(link);
      hits.appendChild(item);
    });
    var told = document.createElement("li");
    told.className = "told";
    told.textContent = !found.length ? "nothing found" : found.length > MOST ? MOST + " of " + found.length + " shown" : found.length + " found";
    hits.appendChild(told);
    hits.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function close() {
    hits.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  input.addEventListener("focus", function () { load(show); });
  input.addEventListener("input", function () { load(show); if (window.perbyteFound) { show(); } });
  input.addEventListener("keydown", function (event) {
    var links = hits.querySelectorAll("a"), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") { close(); }
    if (event.key === "Enter" && links.length) { window.location.href = links[Math.max(chosen, 0)].href; }
    if (!step || !links.length) { return; }
    event.preventDefault();
    chosen = (chosen + step + links.length) % links.length;
    links.forEach(function (link, place) { link.classList.toggle("now", place === chosen); });
    links[chosen].scrollIntoView({ block: "nearest" });
  });
  document.addEventListener("click", function (event) { if (!box.contains(event.target)) { close(); } });
})();
