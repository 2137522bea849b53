"""Real files of photographs of every kind, made in memory, with the names of a person wherever a file can hold one."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo
from PIL.TiffImagePlugin import ImageFileDirectory_v2

Pixels = NDArray[np.uint8]

SECRETS = ("Anneliese", "Wustenhagen", "PID-4711-X", "19371104", "Obermoosbach", "Dr. Quastenberg")
"""Words that stand in the files and must not come out."""
NAME = f"{SECRETS[1]}^{SECRETS[0]}"
ALL_OF_THEM = " ".join(SECRETS)
ARTIST, DESCRIPTION, COPYRIGHT, ORIENTATION = 0x013B, 0x010E, 0x8298, 0x0112

PLAIN, IMPLICIT = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2"
JPEG, JPEG_2000, JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.91", "1.2.840.10008.1.2.4.90"
RLE = "1.2.840.10008.1.2.5"
OPHTHALMIC = "1.2.840.10008.5.1.4.1.1.77.1.5.1"


def eye(height: int = 120, width: int = 160, radius: float = 0.45, text: bool = False) -> Pixels:
    """A round field on black, [H, W, 3], redder to the right and greener below, a bright spot above its middle."""
    row, column = np.mgrid[:height, :width]
    x, y = column - (width - 1) / 2, row - (height - 1) / 2
    inside = np.hypot(x, y) <= radius * height
    spot = 60 * np.exp(-(x**2 + (y + height / 6) ** 2) / (height / 12) ** 2)
    channels = (150 + 60 * x / width + spot, 80 + 60 * y / height + spot, 40 + spot)
    pixels = np.stack([np.where(inside, channel, 0) for channel in channels], axis=-1)
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    if text:
        ImageDraw.Draw(image).text((2, 1), NAME[:6], fill=(255, 255, 255))
        ImageDraw.Draw(image).text((width - 40, height - 12), SECRETS[3][:6], fill=(255, 255, 255))
    return np.array(image)


def exif(orientation: int = 1) -> Image.Exif:
    """What a camera writes into a file, with the secrets, and how it was held."""
    data = Image.Exif()
    data[ORIENTATION] = orientation
    data[ARTIST] = data[DESCRIPTION] = data[COPYRIGHT] = ALL_OF_THEM
    return data


def jpeg(pixels: Pixels, orientation: int = 1, mode: str = "RGB", **options: Any) -> bytes:
    """A JPEG with EXIF and a comment."""
    options = {"quality": 95, "subsampling": 0, "exif": exif(orientation), "comment": ALL_OF_THEM} | options
    return _saved(Image.fromarray(pixels).convert(mode), "JPEG", **options)


def png(pixels: Pixels, orientation: int = 1, mode: str = "RGB", **options: Any) -> bytes:
    """A PNG with EXIF and texts."""
    info = PngInfo()
    info.add_text("Author", ALL_OF_THEM)
    info.add_text("Comment", ALL_OF_THEM, zip=True)
    info.add_itxt("XML:com.adobe.xmp", f"<x>{ALL_OF_THEM}</x>")
    return _saved(Image.fromarray(pixels).convert(mode), "PNG", exif=exif(orientation), pnginfo=info, **options)


def tiff(pixels: Pixels, orientation: int = 1, mode: str = "RGB", **options: Any) -> bytes:
    """A TIFF with tags of its own."""
    return tiff_of(Image.fromarray(pixels).convert(mode), orientation, **options)


def tiff_of(image: Image.Image, orientation: int = 1, **options: Any) -> bytes:
    """An image of any mode as a TIFF with tags of its own."""
    tags = ImageFileDirectory_v2()
    tags[ARTIST] = NAME  # short enough for Pillow to log it
    tags[DESCRIPTION] = tags[COPYRIGHT] = ALL_OF_THEM
    tags[ORIENTATION] = orientation
    return _saved(image, "TIFF", tiffinfo=tags, **options)


def several(pixels: Pixels, kind: str, frames: int = 3) -> bytes:
    """An animation, or a file of several pages: the first as it is, the others turned upside down."""
    others = [Image.fromarray(np.roll(pixels[::-1], k, axis=0)) for k in range(frames - 1)]
    return _saved(Image.fromarray(pixels), kind, save_all=True, append_images=others)


def grey_16(pixels: Pixels, kind: str) -> bytes:
    """The first channel in 16 bits, from 0 to 65535."""
    return _saved(Image.fromarray(pixels[..., 0].astype(np.uint16) * 257), kind)


def png_16(pixels: Pixels) -> bytes:
    """RGB in 16 bits a channel, which Pillow does not write."""
    height, width = pixels.shape[:2]
    wide = (pixels.astype(">u2") * 257).astype(">u2").reshape(height, -1)
    lines = b"".join(b"\x00" + line.tobytes() for line in wide)
    return _png(width, height, bits=16, data=zlib.compress(lines))


def png_claiming(width: int, height: int) -> bytes:
    """A small PNG whose header claims any size."""
    return _png(width, height, bits=8, data=zlib.compress(bytes(1000)))


def tiff_claiming(count: int) -> bytes:
    """A small TIFF one of whose tags claims so many values."""
    entries = [(256, 4, 1, 100), (257, 4, 1, 100), (258, 3, count, 8), (273, 4, count, 8), (279, 4, 1, 10000)]
    directory = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return struct.pack("<2sHIH", b"II", 42, 8, len(entries)) + directory + bytes(4)


def dicom(
    pixels: Pixels, colours: str = "RGB", syntax: str = PLAIN, content: bytes | None = None, frames: int = 1,
    by_plane: bool = False, without: tuple[str, ...] = (), **attributes: Any,
) -> bytes:  # fmt: skip
    """A DICOM file about a person, as an ophthalmic camera writes it.

    `pixels` [H, W] or [H, W, S] are stored as they are, or `content` in their place, one frame of it.
    """
    from pydicom.encaps import encapsulate

    dataset = _person()
    dataset.Rows, dataset.Columns = pixels.shape[:2]
    dataset.SamplesPerPixel = 1 if pixels.ndim == 2 else pixels.shape[2]
    dataset.PhotometricInterpretation = colours
    dataset.PlanarConfiguration = int(by_plane)
    dataset.BitsAllocated = dataset.BitsStored = 8 * pixels.dtype.itemsize
    dataset.HighBit = dataset.BitsStored - 1
    dataset.PixelRepresentation = 0
    dataset.NumberOfFrames = frames
    stored = np.moveaxis(pixels, -1, 0) if by_plane else pixels
    one = stored.tobytes() if content is None else content
    closed = syntax in (JPEG, JPEG_2000, JPEG_2000_LOSSLESS)
    dataset.PixelData = encapsulate([one] * frames) if closed else one * frames
    dataset["PixelData"].VR = "OB" if closed or pixels.dtype.itemsize == 1 else "OW"
    dataset["PixelData"].is_undefined_length = closed
    for keyword, value in attributes.items():
        setattr(dataset, keyword, value)
    for keyword in without:
        delattr(dataset, keyword)
    return dicom_bytes(dataset, syntax)


def dicom_bytes(dataset: Any, syntax: str) -> bytes:
    """A dataset as a file; run lengths and lossless JPEG 2000 are coded by pydicom."""
    from pydicom.uid import UID

    target = BytesIO()
    dataset.file_meta.TransferSyntaxUID = UID(PLAIN if syntax == RLE else syntax)
    if syntax == RLE:
        dataset.compress(UID(RLE), generate_instance_uid=False)
    dataset.save_as(target, enforce_file_format=True, implicit_vr=syntax == IMPLICIT, little_endian=True)
    return target.getvalue()


def ybr(pixels: Pixels) -> Pixels:
    """Brightness, blueness and redness of RGB."""
    return np.array(Image.fromarray(pixels).convert("YCbCr"))


def halved(pixels: Pixels) -> bytes:
    """Two brightnesses, then the blueness and redness that two pixels share."""
    coded = ybr(pixels).astype(np.uint16)
    brightness = coded[..., 0].reshape(coded.shape[0], -1, 2)
    colour = (coded[:, ::2, 1:] + coded[:, 1::2, 1:]) // 2
    return np.concatenate([brightness, colour], axis=-1).astype(np.uint8).tobytes()


def jpeg_2000(pixels: Pixels, **options: Any) -> bytes:
    """A bare JPEG 2000 stream, as it stands in DICOM."""
    return _saved(Image.fromarray(pixels), "JPEG2000", no_jp2=True, **options)


def _person() -> Any:
    """What a camera says of a person, in as many places as it can."""
    from pydicom.dataset import FileDataset, FileMetaDataset

    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = OPHTHALMIC
    meta.MediaStorageSOPInstanceUID = "1.2.3.4"
    meta.SourceApplicationEntityTitle = SECRETS[4]
    dataset = FileDataset("", {}, file_meta=meta, preamble=ALL_OF_THEM.encode().ljust(128)[:128])
    dataset.SOPClassUID, dataset.SOPInstanceUID, dataset.Modality = OPHTHALMIC, "1.2.3.4", "OP"
    dataset.PatientName, dataset.PatientID, dataset.PatientBirthDate = NAME, SECRETS[2], SECRETS[3]
    dataset.StudyDate = dataset.ContentDate = SECRETS[3]
    dataset.InstitutionName, dataset.OperatorsName, dataset.PatientAddress = SECRETS[4], SECRETS[5], SECRETS[4]
    dataset.ImageComments = dataset.StudyDescription = ALL_OF_THEM[:64]
    dataset.private_block(0x0099, "MADE UP", create=True).add_new(1, "LO", NAME)
    return dataset


def _saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    target = BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def _png(width: int, height: int, bits: int, data: bytes) -> bytes:
    """An RGB PNG of three chunks."""
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in chunks
    )
