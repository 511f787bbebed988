// The content of the page: deflated JSON in base64.
async function unpack(text) {
  const { packed } = JSON.parse(text);
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}
