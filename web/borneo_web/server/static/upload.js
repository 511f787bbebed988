// A record from this machine is sent to the server, which answers with the address of its replay.
const input = document.getElementById("record");
const told = document.getElementById("told");

async function send(file) {
  told.textContent = `${file.name} is being read …`;
  const answer = await fetch("/records", { method: "POST", body: file, headers: { "content-type": "application/jsonl" } });
  if (answer.ok) {
    location.href = (await answer.json()).address;
  } else {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    told.textContent = page.querySelector(".problem")?.textContent ?? "The record was refused.";
  }
}

input.addEventListener("change", () => {
  if (!input.files.length) return;
  send(input.files[0]).catch(() => {
    told.textContent = "The server does not answer.";
  });
});
