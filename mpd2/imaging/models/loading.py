"""Networks from their files, by class and never by what a file says; quiet, and without any connection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mpd2.core.errors import UserError
from mpd2.imaging.models.finding import Found, Kind
from mpd2.imaging.packages import need

if TYPE_CHECKING:
    import torch

NAMED = 3  # missing weights that a message names


@contextmanager
def quiet() -> Iterator[None]:
    """No connection, no telemetry, no progress bar, no warning; for all that imports or calls transformers."""
    need("transformers", "A network")
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
        "DO_NOT_TRACK": "1",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import transformers.utils.logging

        logging: Any = transformers.utils.logging  # untyped
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        yield


def load_network(network: type[Any], found: Found, kind: Kind) -> Any:
    """A network of this class with all its weights, ready to answer; a part of them is an error, never a guess."""
    with quiet():
        try:
            model, told = _pickled(network, found) if found.pickled else _safe(network, found)
        except UserError:
            raise
        except Exception as error:  # whatever a damaged file brings about inside of transformers
            raise UserError(f"{found.weights}: {kind.words} cannot be loaded: {_first_line(error)}") from None
    lacking = sorted({*told["missing_keys"], *(str(entry[0]) for entry in told["mismatched_keys"])})
    if lacking:
        named = ", ".join(lacking[:NAMED]) + (f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else "")
        raise UserError(
            f"{found.weights}: {kind.words} lacks weights that config.json speaks of: {named}; expected all of them"
        )
    return model.eval().requires_grad_(False)


def device_here() -> torch.device:
    """A graphics card if there is one, else the processor."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _safe(network: type[Any], found: Found) -> tuple[Any, dict[str, Any]]:
    import torch

    return network.from_pretrained(
        found.folder,
        local_files_only=True,
        use_safetensors=True,
        trust_remote_code=False,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
        dtype=torch.float32,
    )


def _pickled(network: type[Any], found: Found) -> tuple[Any, dict[str, Any]]:
    """The numbers of a pickle; whatever else it holds is refused."""
    import torch

    config = network.config_class.from_pretrained(found.folder, local_files_only=True)
    try:
        weights = torch.load(found.weights, map_location="cpu", weights_only=True)
    except Exception as error:
        raise UserError(f"{found.weights}: found a pickle with more than numbers in it: {_first_line(error)}") from None
    model = network(config)
    told = model.load_state_dict(weights, strict=False)
    return model.float(), {"missing_keys": told.missing_keys, "mismatched_keys": []}


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]
