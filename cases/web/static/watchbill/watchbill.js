/* What pages need beyond htmx: polling only when seen, and looking disconnected when disconnected. */
(() => {
  "use strict";

  const isPoll = (event) => event.detail?.ctx?.sourceElement?.hasAttribute("data-poll");

  // A hidden tab asks nothing; when it is seen again, every hint asks at once.
  document.addEventListener("htmx:config:request", (event) => {
    if (isPoll(event) && document.hidden) event.preventDefault();
  });

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    document.querySelectorAll("[data-poll]").forEach((hint) => htmx.trigger(hint, "every"));
  });

  function setConnection(isLost) {
    const root = document.documentElement;
    if (isLost === (root.dataset.connection === "lost")) return;
    root.dataset.connection = isLost ? "lost" : "live";
    const release = document.getElementById("release-button");
    if (release) release.disabled = isLost;
  }

  function showNoConnection() {
    const notices = document.getElementById("notices");
    const template = document.getElementById("no-connection");
    if (notices && template) notices.replaceChildren(template.content.cloneNode(true));
  }

  document.addEventListener("htmx:after:request", (event) => {
    const status = event.detail?.ctx?.response?.status ?? 0;
    const isLost = status === 502 || status === 503 || status === 504;
    setConnection(isLost);
    if (isLost && !isPoll(event)) showNoConnection();
  });

  document.addEventListener("htmx:error", (event) => {
    const context = event.detail?.ctx;
    if (!context || context.response) return;
    setConnection(true);
    if (!isPoll(event)) showNoConnection();
  });

  // A form without htmx is sent once, however often its button is pressed.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.hasAttribute("hx-post") || form.method !== "post") return;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "yes";
  });

  // Coming back with the browser's own button shows the case as it stands, not as it was kept.
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) window.location.reload();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
