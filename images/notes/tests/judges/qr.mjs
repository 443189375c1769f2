// Reads the QR code of a picture in a page, by a reader of another project.
import reader from 'jsqr';

/** What a picture's code says; '' if there is none in it. */
export async function codeOf(picture) {
  const { pixels, side } = await picture.evaluate(async (img) => {
    await img.decode();
    const side = 600;
    const canvas = Object.assign(document.createElement('canvas'), { width: side, height: side });
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#fff';
    pen.fillRect(0, 0, side, side);
    pen.drawImage(img, 0, 0, side, side);
    return { pixels: [...pen.getImageData(0, 0, side, side).data], side };
  });
  return reader.default(Uint8ClampedArray.from(pixels), side, side)?.data ?? '';
}
