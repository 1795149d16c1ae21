(() => {
  "use strict";
  document.documentElement.classList.add("js");
  const all = (selector) => [...document.querySelectorAll(selector)];

  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector(".text");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text); // the keyboard can copy it from here
      button.textContent = "Select it";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));

  // While the ledger is being read, the page is loaded again, unless a person is using it.
  const reading = document.getElementById("reading");
  if (reading) setInterval(() => {
    if (document.activeElement === document.body && !getSelection().toString()) location.reload();
  }, 1500);

  // Empty fields do not belong into an address that is sent to a colleague.
  const filter = document.getElementById("filter");
  if (filter) filter.addEventListener("formdata", (event) => {
    [...event.formData.entries()].forEach(([name, value]) => { if (!value) event.formData.delete(name); });
  });

  // The live feed puts new rows at the top. The server has escaped their text.
  const live = document.getElementById("live"), rows = document.getElementById("rows");
  if (live && rows && "EventSource" in window) {
    const state = document.getElementById("live-state"), pause = document.getElementById("live-pause");
    const total = document.getElementById("n-failures"), most = 200;
    let paused = false, waiting = [], missed = 0, lost = false, added = 0, spoken = 0;
    const say = (text) => { if (state.textContent !== text) state.textContent = text; };
    const show = (html) => {
      const empty = document.getElementById("empty");
      if (empty) empty.hidden = true;
      const before = rows.firstElementChild;
      rows.insertAdjacentHTML("afterbegin", html);
      for (let row = rows.firstElementChild; row && row !== before; row = row.nextElementSibling) {
        const fresh = row;
        fresh.classList.add("new");
        setTimeout(() => fresh.classList.remove("new"), 3000);
      }
      while (rows.children.length > most) rows.lastElementChild.remove();
    };
    const report = () => {
      const now = Date.now();
      if (paused) say("Paused, " + missed + " new");
      else if (added && now - spoken > 2000) { say("Live, " + added + (added === 1 ? " new failure" : " new failures")); spoken = now; }
    };
    setInterval(report, 1000);
    const source = new EventSource(live.dataset.source);
    source.addEventListener("open", () => {
      live.classList.add("on");
      say(lost ? "Live again; load the page again for failures in between" : "Live");
    });
    source.addEventListener("error", () => { live.classList.remove("on"); lost = true; say("Disconnected, trying again"); });
    source.addEventListener("rows", (event) => {
      const got = JSON.parse(event.data), count = got.count + got.skipped;
      if (total) total.textContent = (Number(total.textContent.replaceAll(",", "")) + count).toLocaleString("en-US");
      if (paused) {
        missed += count;
        waiting = [got.html, ...waiting].slice(0, 20);
      } else {
        added += count;
        show(got.html);
      }
      report();
    });
    source.addEventListener("record", (event) => { document.getElementById("record").outerHTML = JSON.parse(event.data).html; });
    pause.addEventListener("click", () => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      pause.textContent = paused ? "Continue" : "Pause";
      if (!paused) {
        waiting.reverse().forEach(show);
        added += missed;
        waiting = [];
        missed = 0;
        spoken = 0;
        if (!added) say("Live");
      }
      report();
    });
    live.hidden = false;
  }

  // The page of the verification shows how far it is, and is loaded again at its end.
  const verification = document.getElementById("verification");
  if (verification && verification.dataset.state === "running") {
    const bar = document.getElementById("progress"), text = document.getElementById("progress-text");
    const megabytes = (n) => (n / 1e6).toFixed(1) + " MB";
    const look = async () => {
      try {
        const now = await (await fetch(verification.dataset.source)).json();
        if (now.state !== "running") { location.reload(); return; }
        if (now.size) bar.value = Math.min(100, 100 * now.bytes / now.size);
        text.textContent = megabytes(now.bytes) + " of about " + megabytes(now.size);
      } catch { /* the console was stopped, or is busy */ }
      setTimeout(look, 500);
    };
    setTimeout(look, 300);
  }
})();
