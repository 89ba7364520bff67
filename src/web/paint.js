// SPDX-License-Identifier: ISC
// The picture onto the canvas: C paints its pixels, but for letters, which only a browser can draw (letters.h).

const canvas = $("picture");
const context = canvas.getContext("2d", { alpha: false });
const sheet = make("canvas");
const sheetContext = sheet.getContext("2d", { willReadFrequently: true });
let lastPicture = null; // the last picture
const FONT = '"DejaVu Sans", Verdana, sans-serif';

const fontOf = (size, bold) => `${bold ? "bold " : ""}${size / L.WEFT_PX}px ${FONT}`;

function textOf(address, size) {
  return decoder.decode(mem().bytes.subarray(address, address + size));
}

function drawLetter(wanted) {
  const field = name => mem().words[wanted + L[`letter_wanted.${name}`] >> 2], px = L.WEFT_PX;
  const text = textOf(field("text"), field("bytes")), size = field("size"), width = field("width");
  const font = fontOf(Math.abs(size), size < 0);
  if (sheetContext.font !== font)
    sheetContext.font = font;
  sheetContext.save();
  sheetContext.beginPath();
  sheetContext.rect(field("x"), field("y"), field("width_px"), field("height_px"));
  sheetContext.clip();
  sheetContext.fillText(text, field("pen_x") / px, field("pen_y") / px, width ? width / px + 1 : undefined);
  sheetContext.restore();
  mem().words[wanted + L["letter_wanted.advance"] >> 2] = Math.round(sheetContext.measureText(text).width * px);
}

// Draws the letters that C has not seen so far into a sheet, from which it takes them. dark: the ground is dark, so that
// browsers which draw bright letters thinner do so.
function drawLetters(raster, dark) {
  let count;
  while ((count = C.weft_letters()) > 0) {
    const field = name => word(raster + L[`raster.letters.${name}`]);
    const width = field("sheet_width"), height = field("sheet_height");
    if (sheet.width < width || sheet.height < height) {
      sheet.width = Math.max(width, sheet.width);
      sheet.height = Math.max(height, sheet.height);
    }
    sheetContext.clearRect(0, 0, width, height);
    sheetContext.font = "";
    sheetContext.textBaseline = "alphabetic";
    sheetContext.direction = "ltr";
    sheetContext.fillStyle = dark ? "#fff" : "#000";
    for (let i = 0, at = field("wanted"); i < count; i++, at += L.letter_wanted)
      drawLetter(at);
    mem().bytes.set(sheetContext.getImageData(0, 0, width, height).data, field("sheet"));
  }
  return count === 0;
}

// Draws the picture that the explorer shows. False: no memory.
function drawPicture(theme, ratio) {
  const { width, height } = canvas, raster = C.weft_paint(theme, width, height, ratio);
  if (!raster || !drawLetters(raster, (theme & 1) !== 0) || C.weft_pixels() < 0)
    return false;
  const pixels = new Uint8ClampedArray(C.memory.buffer, word(raster + L["raster.pixel"]), width * height * 4);
  lastPicture = { raster, theme };
  context.putImageData(new ImageData(pixels, width, height), 0, 0);
  return true;
}

// The texts of the last picture, for scripts and tests: where they are in pixels of the page, and how they look.
function pictureTexts() {
  const found = [], px = L.WEFT_PX, list = lastPicture && word(lastPicture.raster + L["raster.shown"]);
  const draws = list && word(list + L["weft_drawlist.draws"]), texts = list && word(list + L["weft_drawlist.texts"]);
  for (let i = 0, at = list && word(list + L["weft_drawlist.draw"]); i < draws; i++, at += L.weft_draw) {
    const field = name => mem().words[at + L[`weft_draw.${name}`] >> 2], byte = name => mem().bytes[at + L[`weft_draw.${name}`]];
    if (byte("op") !== L.WEFT_DRAW_TEXT || !byte("alpha"))
      continue;
    const rgb = C.weft_inks.value + byte("ink") * L.weft_ink_info + L["weft_ink_info.rgb"] + 4 * lastPicture.theme;
    found.push({
      text: textOf(texts + field("first"), field("count")),
      x: field("x0") / px,
      y: field("y0") / px,
      width: (field("x1") - field("x0")) / px,
      font: fontOf(field("size"), byte("bold")),
      colour: `#${word(rgb).toString(16).padStart(6, "0")}`,
    });
  }
  return found;
}
