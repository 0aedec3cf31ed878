/* Text that was typed and has not counted stays in this tab: a session that ended, or a page that
   was left, takes nothing away. Kept apart by case, act and person; gone with the tab.
   A key is `case-act`; further boxes of the same act stand under it, as `case-act/box`. */
(() => {
  "use strict";

  const PREFIX = "unsent:";
  const person = document.body.dataset.person;
  const boxes = () => document.querySelectorAll("[data-draft]");

  function storage() {
    try {
      return window.sessionStorage;
    } catch {
      return null; // A browser that keeps nothing still shows the pages.
    }
  }

  const kept = storage();
  if (!kept) return;

  const namesOf = (start) => Object.keys(kept).filter((name) => name.startsWith(PREFIX + start));

  const drop = (key) => kept.removeItem(PREFIX + key);

  function forget(key) {
    drop(key);
    if (key) namesOf(`${key}/`).forEach((name) => kept.removeItem(name));
  }

  function keep(box) {
    // What the page itself put there, and nobody touched, is not typed text.
    const isUntouched = box.hasAttribute("data-prefilled") && box.value === box.defaultValue;
    if (isUntouched || !box.value.trim()) return drop(box.dataset.draft);
    kept.setItem(PREFIX + box.dataset.draft, JSON.stringify({ person, text: box.value }));
  }

  function textOf(key) {
    const found = JSON.parse(kept.getItem(PREFIX + key) ?? "null");
    return found && found.person === person ? found.text : "";
  }

  function keysOfCase(number) {
    return namesOf(`${number}-`).map((name) => name.slice(PREFIX.length));
  }

  function showWithoutForm(text) {
    const section = document.getElementById("unsent").content.cloneNode(true);
    section.querySelector("blockquote").textContent = text;
    document.getElementById("notices").append(section);
  }

  function putBack(key) {
    const text = textOf(key);
    const box = document.querySelector(`[data-draft="${key}"]`);
    if (!text || box?.value === text) return;
    if (box && !box.readOnly) {
      box.value = text;
      box.closest("details")?.setAttribute("open", "");
    } else if (!document.querySelector(`[data-kept="${key}"]`)) {
      showWithoutForm(text);
    }
  }

  document.querySelectorAll("[data-counted]").forEach((notice) => forget(notice.dataset.counted));
  const page = document.querySelector("[data-case]");
  if (page && person) keysOfCase(page.dataset.case).forEach(putBack);
  else if (person) boxes().forEach((box) => putBack(box.dataset.draft));

  document.addEventListener("input", (event) => {
    if (person && event.target.matches("[data-draft]")) keep(event.target);
  });

  document.addEventListener("submit", (event) => {
    const { forgets } = event.target.dataset;
    if (forgets) forget(forgets);
    if (event.target.hasAttribute("data-signs-out")) kept.clear();
    else if (person) boxes().forEach(keep);
  });
})();
