// SPDX-License-Identifier: ISC
// The commands of brush.h onto a canvas.

const canvas = $("picture");
const context = canvas.getContext("2d", { alpha: false });
const shades = make("canvas");
const shadesContext = shades.getContext("2d");
const FONT = '"DejaVu Sans", Verdana, sans-serif';
let inks = null; // [light, dark, both with high contrast][ink]: as CSS has it

function loadInks() {
  const at = C.weft_inks.value, rgb = at + L["weft_ink_info.rgb"], size = L.weft_ink_info;
  inks = [0, 1, 2, 3].map(theme => Array.from({ length: L.WEFT_INKS }, (_, ink) =>
    "#" + word(rgb + ink * size + 4 * theme).toString(16).padStart(6, "0")));
}

// Cache of recently drawn strings, by address: a text that is drawn often is decoded once.
const known = new Map();

function textOf(bytes, at, size) {
  let hash = size;
  for (let i = at; i < at + size; i++)
    hash = Math.imul(hash ^ bytes[i], 16777619);
  let entry = known.get(hash);
  if (entry && entry.length === size) {
    let i = 0;
    while (i < size && entry.bytes[i] === bytes[at + i])
      i++;
    if (i === size)
      return entry.text;
  }
  const own = bytes.slice(at, at + size);
  entry = { bytes: own, length: size, text: decoder.decode(own) };
  if (known.size > 5000)
    known.clear();
  known.set(hash, entry);
  return entry.text;
}

function drawTexts(words, at, count, size, px) {
  const { bytes } = mem();
  context.font = `${size < 0 ? "bold " : ""}${Math.abs(size) / px}px ${FONT}`;
  for (let i = 0; i < count; i++, at += 5) {
    const text = textOf(bytes, words[at + 3], words[at + 4]);
    // Condensed if this machine's font is wider than the one that the picture was made for.
    context.fillText(text, words[at] / px, words[at + 1] / px, words[at + 2] / px + 1);
  }
}

function drawLines(words, at, count, size, px) {
  context.lineWidth = size / px;
  context.beginPath();
  for (let i = 0; i < count; i++, at += 4) {
    context.moveTo(words[at] / px, words[at + 1] / px);
    context.lineTo(words[at + 2] / px, words[at + 3] / px);
  }
  context.stroke();
}

function drawHeads(words, at, count, px) {
  context.beginPath();
  for (let i = 0; i < count; i++, at += 6) {
    context.moveTo(words[at] / px, words[at + 1] / px);
    context.lineTo(words[at + 2] / px, words[at + 3] / px);
    context.lineTo(words[at + 4] / px, words[at + 5] / px);
  }
  context.fill();
}

function drawShades(words, at, count, px) {
  for (let i = 0; i < count; i++, at += 5) {
    const width = words[at + 2] / px;
    context.drawImage(shades, 0, words[at + 4], width, 1, words[at] / px, words[at + 1] / px, width,
      words[at + 3] / px);
  }
}

function loadShades(brush) {
  const width = word(brush + L["brush.width"]), height = word(brush + L["brush.height"]);
  if (!width || !height)
    return;
  if (shades.width !== width || shades.height < height) {
    shades.width = width;
    shades.height = Math.max(height, 64);
  }
  const pixels = new Uint8ClampedArray(C.memory.buffer, word(brush + L["brush.pixel"]), width * height * 4);
  shadesContext.putImageData(new ImageData(pixels, width, height), 0, 0);
}

// Draws the picture that the explorer shows. False: no memory.
function drawPicture(theme, ratio) {
  const brush = C.weft_paint(theme);
  if (!brush)
    return false;
  const { words } = mem(), px = L.WEFT_PX, colours = inks[theme];
  const { BRUSH_RECTS, BRUSH_LINES, BRUSH_HEADS, BRUSH_TEXTS, BRUSH_SHADES } = L;
  let at = word(brush + L["brush.word"]) >> 2;
  const end = at + word(brush + L["brush.words"]);
  loadShades(brush);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.globalAlpha = 1;
  context.imageSmoothingEnabled = false;
  context.textBaseline = "alphabetic";
  context.direction = "ltr";
  context.fillStyle = colours[L.WEFT_INK_GROUND];
  context.fillRect(0, 0, canvas.width / ratio, canvas.height / ratio);
  while (at < end) {
    const kind = words[at], alpha = words[at + 2], size = words[at + 3], count = words[at + 4];
    const colour = colours[words[at + 1]];
    at += L.BRUSH_HEADER;
    context.globalAlpha = alpha / 255;
    if (kind === BRUSH_LINES)
      context.strokeStyle = colour;
    else
      context.fillStyle = colour;
    switch (kind) {
    case BRUSH_RECTS:
      for (let i = 0; i < count; i++, at += 4)
        context.fillRect(words[at] / px, words[at + 1] / px, words[at + 2] / px, words[at + 3] / px);
      break;
    case BRUSH_LINES:
      drawLines(words, at, count, size, px);
      at += 4 * count;
      break;
    case BRUSH_HEADS:
      drawHeads(words, at, count, px);
      at += 6 * count;
      break;
    case BRUSH_TEXTS:
      drawTexts(words, at, count, size, px);
      at += 5 * count;
      break;
    case BRUSH_SHADES:
      context.globalAlpha = 1; // it is already in the pixels
      drawShades(words, at, count, px);
      at += 5 * count;
      break;
    }
  }
  context.globalAlpha = 1;
  return true;
}
