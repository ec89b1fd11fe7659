"""Headers of weight files: GGUF files written by the gguf library, safetensors folders, and files that are wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from engine.architecture.checkpoint import read_model
from engine.architecture.safetensors import MAX_HEADER_BYTES
from engine.catalog.load import load_catalog
from engine.cli.main import main
from engine.errors import InputError, KnownError
from engine.i18n import Language
from engine.layout.model import InferenceJob
from engine.scenario import InferenceWorkload, ModelChoice, Task
from engine.search.resolve import resolve_task
from engine.validation.estimate import estimate_case

WEIGHTS = Path(__file__).parent / "data/weights"
TINY = WEIGHTS / "tiny-llama-Q4_K_M.gguf"
#: 64 x 256 matrices would do; these are the shapes of a Llama with two layers.
CONFIG: dict[str, Any] = {"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
                          "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 160,
                          "max_position_embeddings": 512, "torch_dtype": "bfloat16",
                          "tie_word_embeddings": False}  # fmt: skip


def shapes(layers: int = 2) -> dict[str, list[int]]:
    found = {"model.embed_tokens.weight": [160, 64], "lm_head.weight": [160, 64], "model.norm.weight": [64]}
    for i in range(layers):
        block = f"model.layers.{i}."
        found |= {
            f"{block}self_attn.q_proj.weight": [64, 64],
            f"{block}self_attn.k_proj.weight": [32, 64],
            f"{block}self_attn.v_proj.weight": [32, 64],
            f"{block}self_attn.o_proj.weight": [64, 64],
            f"{block}mlp.gate_proj.weight": [96, 64],
            f"{block}mlp.up_proj.weight": [96, 64],
            f"{block}mlp.down_proj.weight": [64, 96],
            f"{block}input_layernorm.weight": [64],
            f"{block}post_attention_layernorm.weight": [64],
        }
    return found


def safetensors(tensors: dict[str, list[int]], dtype: str = "BF16", width: int = 2) -> bytes:
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in tensors.items():
        size = width
        for n in shape:
            size *= n
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    header = json.dumps(table).encode()
    return len(header).to_bytes(8, "little") + header + bytes(end)


def folder(path: Path, **files: bytes) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "config.json").write_text(json.dumps(CONFIG))
    for name, content in files.items():
        (path / f"{name}.safetensors").write_bytes(content)
    return path


# GGUF: sizes that gguf.GGUFReader 0.19 gives for the same files ------------------------------------------------------


@pytest.mark.parametrize(("name", "size"), [("Q4_K_M", 632_576), ("IQ4_XS", 614_144)])
def test_a_gguf_file_has_the_bytes_and_elements_that_its_library_counts(name: str, size: int) -> None:
    found = read_model(WEIGHTS / f"tiny-llama-{name}.gguf")
    assert (found.stored_bytes, found.counted_parameters, found.file_format) == (size, 951_552, name)
    arch = found.architecture
    assert (arch.hidden_size, arch.layers, arch.attention_heads, arch.kv_heads) == (256, 2, 4, 2)
    assert (arch.intermediate_size, arch.vocabulary_size, arch.tied_embeddings) == (256, 320, False)
    assert (arch.parameters_total, arch.basis, arch.native_dtype) == (951_552, "checkpoint", name.lower())
    assert found.notes == ()


def test_a_gguf_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    content = TINY.read_bytes()
    for length in (30, 400, 4000, len(content) - 100):
        (tmp_path / "cut.gguf").write_bytes(content[:length])
        with pytest.raises(InputError) as caught:
            read_model(tmp_path / "cut.gguf")
        assert caught.value.code == "model.weights_cut_short"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (b"GGML", "model.not_gguf"),
        (b"GGUF\x01\x00\x00\x00", "model.gguf_version"),
        (b"GGUF\x03\x00\x00\x00" + b"\xff" * 8, "model.bad_header"),
    ],
)
def test_other_files_with_that_ending_are_refused(tmp_path: Path, change: bytes, code: str) -> None:
    content = bytearray(TINY.read_bytes())
    content[: len(change)] = change
    (tmp_path / "bad.gguf").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_model(tmp_path / "bad.gguf")
    assert caught.value.code == code


def test_an_architecture_that_gguf_does_not_state_in_full_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(TINY.read_bytes().replace(b"llama", b"rwkv7"))
    with pytest.raises(InputError) as caught:
        read_model(tmp_path / "m.gguf")
    assert caught.value.params["architecture"] == "rwkv7"


def test_a_part_of_a_split_gguf_that_is_missing_is_named(tmp_path: Path) -> None:
    shutil.copy(TINY, tmp_path / "m-00001-of-00002.gguf")
    with pytest.raises(InputError) as caught:
        read_model(tmp_path / "m-00001-of-00002.gguf")
    assert str(caught.value.params["file"]).endswith("m-00002-of-00002.gguf")


# safetensors ----------------------------------------------------------------------------------------------------------


def test_a_folder_gives_real_formats_and_sizes(tmp_path: Path) -> None:
    found = read_model(folder(tmp_path / "m", model=safetensors(shapes(), "F16")))
    total = sum(a * (b[0] if b else 1) for a, *b in shapes().values())
    assert found.counted_parameters == found.architecture.parameters_total == total
    assert (found.stored_bytes, found.architecture.native_dtype) == (2 * total, "fp16")  # though the config says bf16
    assert found.notes == ()


def test_weights_of_another_model_are_noticed(tmp_path: Path) -> None:
    wrong = {**shapes(), "model.layers.0.mlp.extra.weight": [640, 64]}
    found = read_model(folder(tmp_path / "m", model=safetensors(wrong)))
    assert [n.code for n in found.notes] == ["model.note.count_differs"]


def test_layers_that_predict_further_tokens_and_images_do_not_count(tmp_path: Path) -> None:
    more = {**shapes(3), "vision_tower.patch.weight": [64, 64], "model.rotary.inv_freq": [8]}
    found = read_model(folder(tmp_path / "m", model=safetensors(more)))
    assert found.counted_parameters == found.architecture.parameters_total


def test_packed_weights_are_sized_but_not_counted(tmp_path: Path) -> None:
    found = read_model(folder(tmp_path / "m", model=safetensors({"model.layers.0.q.qweight": [64, 8]}, "I32", 4)))
    assert (found.counted_parameters, found.stored_bytes) == (0, 2048)


def test_files_of_the_index_that_are_missing_are_told_and_the_size_is_that_of_the_index(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", **{"model-00001-of-00002": safetensors(shapes(1))})
    index = {"metadata": {"total_size": 123_456}, "weight_map": {"a": "model-00001-of-00002.safetensors",
                                                                 "b": "model-00002-of-00002.safetensors"}}  # fmt: skip
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    found = read_model(path / "model.safetensors.index.json")
    assert found.stored_bytes == 123_456
    assert found.notes[0].params == {"missing": 1, "all": 2, "name": "model-00002-of-00002.safetensors"}


def test_the_data_of_a_huge_file_is_not_read(tmp_path: Path) -> None:
    big = {"model.layers.0.q.weight": [200_000, 200_000]}
    header = json.dumps({n: {"dtype": "BF16", "shape": s, "data_offsets": [0, 80_000_000_000]} for n, s in big.items()})
    path = folder(tmp_path / "m")
    with (path / "model.safetensors").open("wb") as stream:
        stream.write(len(header).to_bytes(8, "little") + header.encode())
        stream.truncate(80_000_000_008 + len(header))  # a sparse file
    assert read_model(path).stored_bytes == 80_000_000_000


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "model.weights_cut_short"),
        (b"\xff" * 100, "model.weights_cut_short"),
        ((20).to_bytes(8, "little") + b"x" * 20, "model.bad_header"),
        ((100_002).to_bytes(8, "little") + b"[" * 100_002, "model.bad_header"),
        ((2).to_bytes(8, "little") + b"[]", "model.bad_header"),
        (safetensors(shapes())[:-1], "model.weights_cut_short"),
        (safetensors(shapes()).replace(b'"shape": [64, 64]', b'"shape": [64, 65]', 1), "model.bad_tensor"),
        (safetensors(shapes()).replace(b'"shape": [64, 64]', b'"shape": [-4, 64]', 1), "model.bad_header"),
    ],
)
def test_wrong_safetensors_files_are_told(tmp_path: Path, content: bytes, code: str) -> None:
    with pytest.raises(InputError) as caught:
        read_model(folder(tmp_path / "m", model=content))
    assert caught.value.code == code


def test_a_header_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    with (path / "model.safetensors").open("wb") as stream:
        stream.write((MAX_HEADER_BYTES + 1).to_bytes(8, "little"))
        stream.truncate(MAX_HEADER_BYTES + 100)
    with pytest.raises(InputError) as caught:
        read_model(path)
    assert caught.value.code == "model.header_too_large"


def test_weights_without_a_configuration_and_pickles_are_explained(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(safetensors(shapes()))
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    for name, code in (("model.safetensors", "model.weights_without_config"), ("pytorch_model.bin", "model.pickle")):
        with pytest.raises(KnownError) as caught:
            read_model(tmp_path / name)
        assert caught.value.code == code
        for language in (Language("en"), Language("zh_CN")):
            assert name.split(".")[0] in language.error(caught.value) or str(tmp_path) in language.error(caught.value)


def test_a_folder_with_pickles_alone_is_read_by_its_configuration(tmp_path: Path) -> None:
    path = folder(tmp_path / "m")
    (path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    found = read_model(path)
    assert (found.kind, [n.code for n in found.notes]) == ("config", ["model.note.pickle_not_read"])


def test_the_command_line_shows_what_a_file_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", str(TINY), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["file"]["stored_bytes"], answer["file"]["format"], answer["params_total"]) == (
        632_576, "Q4_K_M", 951_552,
    )  # fmt: skip
    for language, word in (("en", "Q4_K_M"), ("zh_CN", "张量")):
        assert main(["model", str(TINY), "--lang", language]) == 0
        assert word in capsys.readouterr().out


# serving what is in the file ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kind", "size"), [("Q4_K_M", "q4_k_m", 632_576), ("IQ4_XS", "q4_0", 614_144)])
def test_a_gguf_file_is_served_with_the_bytes_that_it_holds(name: str, kind: str, size: int) -> None:
    case = {"model": str(WEIGHTS / f"tiny-llama-{name}.gguf"), "method": "inference", "framework": "llama.cpp",
            "gpu": "RTX 4090", "prompt_tokens": 64, "output_tokens": 64}  # fmt: skip
    found = estimate_case(case, load_catalog())
    assert isinstance(found.job, InferenceJob)
    assert found.job.weight_quantization == kind
    weights = next(t for t in found.memory.terms if t.name == "memory.weights")
    assert weights.low == weights.high == pytest.approx(size, rel=1e-6)
    other = estimate_case({**case, "weight_quant": "q8_0"}, load_catalog())  # converted anew: by the formula again
    assert next(t for t in other.memory.terms if t.name == "memory.weights").expected == pytest.approx(
        951_552 * 8.5008 / 8, rel=0.01
    )


def test_the_advice_serves_the_file_that_is_there() -> None:
    arch = read_model(TINY).architecture
    work = InferenceWorkload(engine="llama.cpp")
    task = Task(id="t1", model=ModelChoice(architecture=arch), workload=work)
    jobs = resolve_task(task, load_catalog()).jobs
    assert [j.weight_quantization for j in jobs if isinstance(j, InferenceJob)] == ["q4_k_m"]
