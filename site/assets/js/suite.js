// Sortable tables, and charts that become interactive when they scroll into view.
// Everything works without this file: tables are in order, charts are pictures.
(function () {
  "use strict";

  function sortable() {
    document.querySelectorAll("table.results").forEach(function (table) {
      if (window.Tablesort && table.tBodies[0] && table.tBodies[0].rows.length > 1) new Tablesort(table);
    });
  }

  function load(address) {
    return new Promise(function (done, failed) {
      var script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      document.head.appendChild(script);
    });
  }

  var library = null;
  function vega(root) {
    if (!library) {
      library = load(root + "assets/js/vega.min.js")
        .then(function () { return load(root + "assets/js/vega-lite.min.js"); })
        .then(function () { return load(root + "assets/js/vega-embed.min.js"); });
    }
    return library;
  }

  function palette() {
    return document.body.getAttribute("data-md-color-scheme") === "slate" ? "dark" : "light";
  }

  function draw(figure) {
    var spec = JSON.parse(figure.querySelector("script").textContent);
    spec.config = spec.usermeta[palette()];
    spec.width = Math.min(460, figure.clientWidth - 220);
    return vega(figure.dataset.root)
      .then(function () {
        return vegaEmbed(figure.querySelector(".live"), spec, { actions: false, renderer: "svg" });
      })
      .then(function () { figure.classList.add("drawn"); })
      .catch(function () { figure.classList.remove("drawn"); });
  }

  function charts() {
    var figures = document.querySelectorAll("figure.chart");
    if (!figures.length || !window.IntersectionObserver) return;
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting || entry.target.clientWidth < 560) return;  // narrow: the picture scales, the chart does not
        seen.unobserve(entry.target);
        draw(entry.target);
      });
    });
    figures.forEach(function (figure) { seen.observe(figure); });
    new MutationObserver(function () {
      document.querySelectorAll("figure.chart.drawn").forEach(draw);
    }).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  }

  function copying() {
    if (!navigator.clipboard) return;
    document.querySelectorAll("button.copy").forEach(function (button) {
      var label = button.textContent;
      button.hidden = false;
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(button.dataset.copy).then(function () {
          button.textContent = "copied";
          setTimeout(function () { button.textContent = label; }, 1500);
        });
      });
    });
  }

  sortable();
  copying();
  charts();
})();
