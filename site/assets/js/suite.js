// Sortable tables, and charts that become interactive when they scroll into view.
// Everything works without this file: tables are in order, charts are pictures.
(function () {
  "use strict";

  function sortable() {
    document.querySelectorAll("table.results").forEach(function (table) {
      if (window.Tablesort && table.tBodies[0] && table.tBodies[0].rows.length > 1) {
        new Tablesort(table);
        table.tHead.querySelectorAll("a.term").forEach(behindHead);
      }
    });
  }

  // The mark behind a head that sorts: a pointer sorts there too and sees the meaning, the Enter key follows the link.
  function behindHead(mark) {
    mark.parentElement.title = mark.title;
    mark.addEventListener("keydown", function (event) { event.stopPropagation(); });
    mark.addEventListener("click", function (event) {
      if (event.detail) event.preventDefault();
      else event.stopPropagation();
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

  // `ast`: vega reads expressions itself, so that the page's policy can forbid eval.
  var library = null;
  function vega(root) {
    if (!library) {
      library = load(root + "assets/js/vega.min.js")
        .then(function () { return load(root + "assets/js/vega-lite.min.js"); })
        .then(function () { return load(root + "assets/js/vega-embed.min.js"); })
        .then(function () { return load(root + "assets/chart-looks.js"); });
    }
    return library;
  }

  function palette() {
    return document.body.getAttribute("data-md-color-scheme") === "slate" ? "dark" : "light";
  }

  function draw(figure) {
    var spec = JSON.parse(figure.querySelector("script").textContent), live = figure.querySelector(".live");
    if (figure.dataset.palette === palette()) return;
    figure.dataset.palette = palette();
    live.style.minHeight = live.offsetHeight + "px";  // it is empty for a moment when it is drawn again
    return vega(figure.dataset.root)
      .then(function () {
        spec.config = window.chartLooks[palette()];
        return vegaEmbed(live, spec, { actions: false, renderer: "svg", ast: true });
      })
      .then(function () { figure.classList.add("drawn"); live.style.minHeight = ""; })
      .catch(function () {
        figure.classList.remove("drawn");
        delete figure.dataset.palette;
        live.style.minHeight = "";
      });
  }

  function charts() {
    var figures = document.querySelectorAll("figure.chart:not(.narrow, .still)");
    if (!figures.length || !window.IntersectionObserver) return;
    var seen = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting || window.innerWidth < 700) return;  // narrow: the picture scales, the chart does not
        seen.unobserve(entry.target);
        draw(entry.target);
      });
    });
    figures.forEach(function (figure) { seen.observe(figure); });
    new MutationObserver(function () {
      document.querySelectorAll("figure.chart.drawn").forEach(draw);
    }).observe(document.body, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
  }

  // A table whose rows say what they can be filtered by gets a choice for each; what is chosen stands in the address.
  function filters() {
    document.querySelectorAll("table.results[data-filters]").forEach(function (table) {
      var rows = Array.prototype.slice.call(table.tBodies[0].rows);
      var asked = new URLSearchParams(location.search), form = document.createElement("form");
      var said = document.createElement("output"), chosen = {};
      var place = table.parentElement.previousElementSibling;  // kept free, so that nothing moves
      form.className = "filters";
      table.classList.add("filtered");
      form.addEventListener("submit", function (event) { event.preventDefault(); });

      function show() {
        var shown = 0;
        rows.forEach(function (row) {
          row.hidden = Object.keys(chosen).some(function (name) { return chosen[name] && row.dataset[name] !== chosen[name]; });
          if (!row.hidden) shown += 1;
        });
        said.textContent = shown + " of " + rows.length;
      }

      function remember() {
        var now = new URLSearchParams(location.search);
        Object.keys(chosen).forEach(function (name) { now.set(name, chosen[name] || "all"); });
        try { history.replaceState(null, "", "?" + now + location.hash); } catch (refused) { /* a file in some browsers */ }
      }

      table.dataset.filters.split(" ").forEach(function (name) {
        var values = Array.from(new Set(rows.map(function (row) { return row.dataset[name]; })));
        var first = table.dataset["first" + name[0].toUpperCase() + name.slice(1)] || "";
        var wanted = asked.has(name) ? asked.get(name) : first;
        chosen[name] = values.indexOf(wanted) < 0 ? "" : wanted;
        if (values.length < 2) { chosen[name] = ""; return; }
        var label = document.createElement("label"), select = document.createElement("select");
        label.textContent = name + " ";
        [""].concat(values).forEach(function (value) {
          var option = new Option(value || "all", value);
          option.selected = value === chosen[name];
          select.add(option);
        });
        select.addEventListener("change", function () { chosen[name] = select.value; show(); remember(); });
        label.append(select);
        form.append(label);
      });
      if (!form.children.length) { place.hidden = true; return; }
      form.append(said);
      place.append(form);
      show();
    });
  }

  // A table shows a few columns first; a switch shows the others, and stands in the address.
  function columns() {
    document.querySelectorAll("table.results[data-more]").forEach(function (table) {
      var label = document.createElement("label"), box = document.createElement("input");
      var place = table.parentElement.previousElementSibling, form = place.querySelector("form");
      if (!form) {
        form = document.createElement("form");
        form.className = "filters";
        place.append(form);
        place.hidden = false;
      }
      box.type = "checkbox";
      box.checked = new URLSearchParams(location.search).get("columns") === "all";
      table.classList.toggle("whole", box.checked);
      box.addEventListener("change", function () {
        var now = new URLSearchParams(location.search);
        table.classList.toggle("whole", box.checked);
        if (box.checked) now.set("columns", "all"); else now.delete("columns");
        try { history.replaceState(null, "", "?" + now + location.hash); } catch (refused) { /* a file in some browsers */ }
      });
      label.append(box, " more columns");
      form.append(label);
    });
  }

  // The buttons beside a link to an embedded page copy its code, with the address that this page has now.
  // The frame's height: of a number's page, else of the picture and the texts around it, which take more lines on a telephone.
  function heights(figure, image) {
    if (!image) return { wide: 290, narrow: 390 };
    var other = image.getAttribute("src").replace(/\.(light|dark)\.svg/, ".narrow.$1.svg");
    var narrow = document.querySelector('img[src="' + other + '"]') || image;
    var letters = (figure.querySelector(".finding") || figure.querySelector("figcaption")).textContent.length;
    function around(picture, rest, inLine) { return Number(picture.getAttribute("height")) + rest + 24 * Math.ceil(letters / inLine); }
    return { wide: around(image, 120, 60), narrow: around(narrow, 170, 34) };
  }

  function embeds() {
    var link = document.querySelector("link[rel=canonical]"), here = link ? link.href : location.href;
    function quoted(text) { return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;"); }
    document.querySelectorAll("a[data-embed]").forEach(function (anchor) {
      var figure = anchor.closest("figure"), image = figure && figure.querySelector("img");
      var height = heights(figure, image);
      var title = quoted(image ? image.alt.slice(0, 200) : anchor.title);
      function absolute(address) { return quoted(new URL(address, here).href); }
      var frame = '<iframe src="' + absolute(anchor.getAttribute("href")) + '" title="' + title +
        '" width="100%" height="' + height.wide + '" style="border:0;height:clamp(' + height.wide + 'px,calc((560px - 100vw)*999),' +
        height.narrow + 'px)" loading="lazy"></iframe>';
      var picture = '<a href="' + absolute("") + '"><img src="' + absolute(anchor.dataset.picture) + '" alt="' + title + '"></a>';
      var code = { frame: frame, picture: picture }, next = anchor.nextElementSibling;
      for (; next && next.dataset.code; next = next.nextElementSibling) next.dataset.copy = code[next.dataset.code];
    });
  }

  function copying() {
    if (!navigator.clipboard) return;
    document.querySelectorAll("button.copy").forEach(function (button) {
      var label = button.textContent, from = button.dataset.from;  // a tag beside it, whose text is copied
      button.hidden = false;
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(from ? button.closest("details").querySelector(from).textContent : button.dataset.copy).then(function () {
          button.textContent = "copied";
          setTimeout(function () { button.textContent = label; }, 1500);
        });
      });
    });
  }

  // The theme's search is a dialog without a name, which screen readers would read as "dialog".
  function named() {
    document.querySelectorAll(".md-search[role=dialog]").forEach(function (search) {
      search.setAttribute("aria-label", "Search");
    });
  }

  named();
  sortable();
  filters();
  columns();
  embeds();
  copying();
  charts();
})();
