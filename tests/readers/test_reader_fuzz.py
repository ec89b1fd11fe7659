"""Readers are given damaged and invented files: an answer or a `KnownError` each time, soon, and with little memory.

The default suite tries some hundred inputs a reader; marked `long`, 100,000 and more a reader, with time and memory
measured.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.architecture.checkpoint import read_model
from engine.architecture.readers import read_config
from engine.catalog.load import load_catalog
from engine.datasets import count_dataset
from engine.errors import KnownError
from engine.inputs import parse_scenario
from engine.runs.read import read_command, read_run
from engine.runs.scenario import task_fields

DATA = Path(__file__).parent / "data"
CONFIGS = Path(__file__).parents[1] / "reference/data/configs"
CATALOG = load_catalog()
SECONDS, MEMORY_BYTES = 2.0, 500 * 2**20
SHORT, LONG = 300, 100_000

#: What breaks parsers: brackets, quotes, huge numbers, NULs, half characters, anchors.
SNIPPETS = (
    b"[" * 50, b"{" * 50, b'"', b"\x00", b"\xff", b"1e999", b"9" * 400, b"-1", b"NaN", b"null", b"true", b"[]", b"{}",
    b"&a [*a]", b"*a", b"<<: *a", b"\n", b"\t", b"\xe6\x98", b"!!python/object:os.system", b"? ", b": ", b",", b"0",
    b"\xef\xbb\xbf", b"'", b"\\", b"--", b"=", b"%", b"|", b">", b"- ",
)  # fmt: skip


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A valid file with some bytes changed, parts cut out, doubled, moved, or replaced by what breaks parsers."""
    made = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(made) + 1)
        match chance.randrange(7):
            case 0 if made:
                made[at % len(made)] = chance.randrange(256)
            case 1:
                del made[at:]
            case 2:
                del made[at : at + chance.randrange(1, 64)]
            case 3:
                made[at:at] = chance.choice(SNIPPETS)
            case 4:
                made[at:at] = made[at : at + chance.randrange(1, 64)]
            case 5 if len(made) > 8:  # a length or an offset
                made[at : at + 8] = chance.choice((0, 1, 2**31, 2**63 - 1, 2**64 - 1, 1 << 40)).to_bytes(8, "little")
            case _:
                made[at : at + 4] = chance.randbytes(4)
    return bytes(made)


def _safetensors() -> bytes:
    shape = {"model.embed_tokens.weight": [160, 64], "model.layers.0.self_attn.q_proj.weight": [64, 64]}
    table, end = dict[str, Any](), 0
    for name, (a, b) in shape.items():
        table[name] = {"dtype": "BF16", "shape": [a, b], "data_offsets": [end, end + 2 * a * b]}
        end += 2 * a * b
    header = json.dumps(table).encode()
    return len(header).to_bytes(8, "little") + header + bytes(end)


def _gguf_header() -> bytes:
    """The header of a file and little of its data: where damage is interesting."""
    return (DATA / "weights/tiny-llama-Q4_K_M.gguf").read_bytes()[:8000]


def _seeds(folder: Path, pattern: str) -> list[bytes]:
    return [p.read_bytes() for p in sorted(folder.rglob(pattern)) if p.is_file()]


def _runs() -> list[bytes]:
    return _seeds(DATA / "runs", "*.*")


ROWS = b'{"messages": [{"role": "user", "content": "hi"}]}\n{"instruction": "a", "output": "b"}\n'
TABLE = b'prompt,answer\n"a, b",c\nd,"e\nf"\n'
SCRIPT = (
    b"MODEL=Qwen/Qwen3-8B\nexport A=1\nCUDA_VISIBLE_DEVICES=0,1 accelerate launch --num_processes 2 train.py \\\n"
    b"  --model_name_or_path $MODEL --bf16 --lora_target_modules q_proj v_proj --deepspeed ds_z3.json\n"
)
ADAPTER = b'{"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen3-8B", "r": 8, "target_modules": ["q_proj"]}'


def _run(path: Path) -> None:
    task_fields(read_run(path, CATALOG))


def _gguf(path: Path) -> None:
    os.truncate(path, 700_000)  # as long as the data of the tensors makes it; the file has holes
    read_model(path)


def _weights(path: Path) -> None:
    (path.parent / "config.json").write_bytes(_seeds(CONFIGS, "*8B.json")[0])
    read_model(path)


def _scenario(path: Path) -> None:
    parse_scenario(path.read_bytes(), file=path.name)


def _command(path: Path) -> None:
    read_command(path.read_bytes().decode("utf-8", errors="replace"), CATALOG)


SCENARIOS = Path(__file__).parents[2] / "resources/examples"
#: Reader -> (name of the file, reads it, valid contents)
READERS: dict[str, tuple[str, Callable[[Path], object], list[bytes]]] = {
    "config.json": ("config.json", read_config, _seeds(CONFIGS, "*.json") + _seeds(DATA / "configs", "*.json")),
    "gguf": ("m.gguf", _gguf, [_gguf_header()]),
    "safetensors": ("model.safetensors", _weights, [_safetensors()]),
    "yaml": ("run.yaml", _run, _runs()),
    "run-json": ("run.json", _run, [c for c in _runs() if c[:1] == b"{"]),
    "script": ("run.sh", _run, [SCRIPT]),
    "command": ("run.txt", _command, [SCRIPT]),
    "adapter": ("adapter_config.json", _run, [ADAPTER]),
    "jsonl": ("a.jsonl", count_dataset, [ROWS]),
    "csv": ("a.csv", count_dataset, [TABLE]),
    "scenario": ("s.json", _scenario, _seeds(SCENARIOS, "*.json")),
}


def attack(reader: str, folder: Path, inputs: int, seed: int) -> tuple[int, float]:
    """Give a reader so many damaged files; how many it could read, and the longest time in seconds."""
    name, read, valid = READERS[reader]
    chance = random.Random(seed)
    path = folder / name
    read_well, slowest = 0, 0.0
    for number in range(inputs):
        content = damaged(chance.choice(valid), chance)
        path.write_bytes(content)
        begin = time.perf_counter()
        try:
            read(path)
            read_well += 1
        except KnownError:
            pass
        except Exception as error:
            raise AssertionError(f"{reader}, input {number} of seed {seed}: {content[:300]!r}") from error
        slowest = max(slowest, time.perf_counter() - begin)
    return read_well, slowest


@pytest.mark.parametrize("reader", sorted(READERS))
def test_damaged_files_give_an_answer_or_a_reason(reader: str, tmp_path: Path) -> None:
    read_well, slowest = attack(reader, tmp_path, SHORT if reader != "yaml" else SHORT // 3, 1)
    assert slowest < SECONDS
    assert read_well < SHORT  # the damage does something


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="the largest memory is not told there")
@pytest.mark.parametrize("reader", sorted(READERS))
def test_a_hundred_thousand_damaged_files(reader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read_well, slowest = attack(reader, tmp_path, LONG, 2)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    mebibytes = largest / 2**20
    with capsys.disabled():
        told = f"{reader}: {read_well} of {LONG} read, slowest {slowest:.3f} s, {mebibytes:.0f} MiB at most"
        sys.stdout.write(f"\n{told}\n")
    assert slowest < SECONDS
    assert largest < MEMORY_BYTES


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner), max_leaves=8
)
_KEYS = st.sampled_from([
    "model_type", "hidden_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads", "vocab_size",
    "intermediate_size", "head_dim", "layer_types", "quantization_config", "text_config", "num_experts",
    "num_experts_per_tok", "sliding_window", "moe_layer_freq", "kv_lora_rank", "base_model", "micro_batch_size",
    "sequence_len", "adapter", "lora_r", "model_name_or_path", "finetuning_type", "zero_optimization", "fsdp_config",
    "deepspeed", "peft_type", "target_modules", "per_device_train_batch_size", "bf16", "optim", "max_steps",
])  # fmt: skip


@given(st.dictionaries(_KEYS, _VALUES | st.integers(1, 200), max_size=14), st.sampled_from(["config", "run"]))
@settings(max_examples=120, deadline=2000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_invented_tables_give_an_answer_or_a_reason(table: dict[str, Any], kind: str) -> None:
    import tempfile

    try:
        if kind == "config":
            read_config(table)
        else:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "run.json"
                path.write_text(json.dumps(table))
                _run(path)
    except KnownError:
        pass


def test_counts_of_hundreds_of_digits_are_refused() -> None:
    content = _seeds(SCENARIOS, "continued*.json")[0].replace(b'"tokens": ', b'"tokens": ' + b"9" * 400)
    assert b"9" * 400 in content
    with pytest.raises(KnownError) as caught:
        parse_scenario(content, file="s.json")
    assert caught.value.params["field"] == "tasks.0.workload.training.data.tokens"
