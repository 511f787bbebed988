// The lobby: links are copied, and who has come is asked for again and again while the page is looked at.
const PAUSE = 2000; // milliseconds

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const link = document.getElementById(button.dataset.copy);
    link.select();
    try {
      await navigator.clipboard.writeText(link.value);
    } catch {
      document.execCommand("copy"); // another machine's page without encryption has no clipboard
    }
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), PAUSE);
  });
}

async function look() {
  if (document.hidden) return;
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!page.getElementById("lobby")) return location.reload(); // the game is not there any more
  for (const came of document.querySelectorAll(".came")) {
    const now = page.querySelector(`.came[data-seat="${came.dataset.seat}"]`)?.textContent;
    if (now && now !== came.textContent) came.textContent = now;
  }
}

setInterval(() => look().catch(() => {}), PAUSE); // a server that has gone may come back
