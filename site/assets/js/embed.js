// A page for frames on other sites is light or dark as `?theme=` says; without it, as the reader's system says.
(function () {
  "use strict";
  var theme = new URLSearchParams(location.search).get("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
