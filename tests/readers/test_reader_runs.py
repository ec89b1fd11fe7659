"""Thirty training configurations as people have them: read, answered, and every key accounted for."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from run_expectations import EXPECTED

from engine.catalog.load import load_catalog
from engine.cli.main import main
from engine.errors import InputError
from engine.i18n import Language
from engine.runs.read import looks_like_run, read_command, read_run
from engine.runs.scenario import case_of, scenario_of, task_fields
from engine.validation.estimate import estimate_case

RUNS = Path(__file__).parent / "data/runs"
CATALOG = load_catalog()
MISSING = {"model": "Qwen/Qwen2.5-7B", "method": "full", "seq_len": "2048"}


def test_the_thirty_are_there() -> None:
    there = {str(p.relative_to(RUNS)) for p in RUNS.rglob("*") if p.is_file()}
    assert there == set(EXPECTED)
    assert len(there) == 30


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_configuration_says_what_it_says(name: str) -> None:
    wanted, found = EXPECTED[name], read_run(RUNS / name, CATALOG)
    assert {k: found.case.get(k) for k in wanted.case} == wanted.case
    assert {k.key for k in found.keys_left("not_modelled")} >= wanted.not_modelled
    assert {k.key for k in found.keys_left("unknown")} == wanted.unknown
    assert {n.code for n in found.notes} == wanted.notes
    assert not wanted.open & found.case.keys()
    assert looks_like_run(RUNS / name)


def _leaves(value: Any, at: str = "") -> set[str]:
    if isinstance(value, dict):
        return {leaf for k, v in value.items() for leaf in _leaves(v, f"{at}.{k}" if at else str(k))}
    if isinstance(value, list) and any(isinstance(x, dict | list) for x in value):
        return {leaf for i, v in enumerate(value) for leaf in _leaves(v, f"{at}.{i}")}
    return {at}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_key_is_either_used_or_listed(name: str) -> None:
    found = read_run(RUNS / name, CATALOG)
    written = _leaves(yaml.safe_load((RUNS / name).read_text()))
    told = {u.key for u in found.used} | {k.key for k in found.left}
    assert written == told


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_will_it_fit_is_answered(name: str) -> None:
    found = read_run(RUNS / name, CATALOG)
    added = {k: v for k, v in MISSING.items() if k not in found.case}
    cards = {} if "n_gpus" in found.case else {"n_gpus": 8 if "tp=" in str(found.case.get("parallel")) else 1}
    answer = estimate_case({**case_of(found, added), **cards, "gpu": "H100 SXM 80GB"}, CATALOG)
    assert answer.memory.verdict.value in ("fits", "fits_tightly", "does_not_fit")
    assert answer.training is not None
    assert answer.job.sequence_length == int(found.case.get("seq_len", 2048))
    for key, wanted in (("micro_batch", answer.layout.micro_batch_size), ("n_gpus", answer.layout.gpus)):
        assert found.case.get(key, wanted) == wanted


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_scenario_comes_of_it(name: str) -> None:
    found = read_run(RUNS / name, CATALOG)
    added: dict[str, Any] = {"tokens": "1000000", **{k: v for k, v in MISSING.items() if k not in found.case}}
    made = scenario_of(found, added, date(2026, 12, 1))
    work: Any = made.tasks[0].workload
    assert (work.method, work.data.tokens) == (found.case.get("method", "full"), 1_000_000)
    if "micro_batch" in found.case and "global_batch" not in found.case:
        cards, steps = int(found.case.get("n_gpus", 1)), int(found.case.get("grad_accum", 1))
        assert work.global_batch_size == int(found.case["micro_batch"]) * steps * cards


def test_steps_and_epochs_become_an_amount_of_data() -> None:
    fields = task_fields(read_run(RUNS / "llama-factory/pretrain.yaml", CATALOG))
    assert fields["tokens"] == 10_000 * 4 * 16 * 4096
    assert task_fields(read_run(RUNS / "axolotl/qlora.yml", CATALOG))["epochs"] == 4


def test_what_is_missing_is_asked_by_name() -> None:
    run = read_run(RUNS / "sharding/ds-zero2.json", CATALOG)
    assert run.asked == ("model", "method", "seq_len", "n_gpus", "gpu")
    with pytest.raises(InputError) as caught:
        case_of(run, {})
    assert caught.value.params["names"] == "model, method"
    with pytest.raises(InputError) as caught:
        scenario_of(run, {"model": "Qwen/Qwen2.5-7B", "method": "full"}, date(2026, 12, 1))
    assert caught.value.code == "run.no_data"


# command lines --------------------------------------------------------------------------------------------------------

COMMANDS: dict[str, dict[str, Any]] = {
    "accelerate launch --config_file accelerate-fsdp2.yaml examples/scripts/sft.py --model_name_or_path "
    "meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_length 4096 "
    "--bf16 --gradient_checkpointing --dataset_name timdettmers/openassistant-guanaco": {
        "n_gpus": 8, "parallel": "fsdp=full", "model": "meta-llama/Llama-3.1-8B", "micro_batch": 2, "grad_accum": 4,
        "seq_len": 4096, "activation_checkpointing": "full", "method": "full"},
    "CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node 2 train.py --model_name_or_path Qwen/Qwen2.5-7B \\\n"
    "  --bf16 True --per_device_train_batch_size=4 --deepspeed ds-zero3-offload.json --max_seq_length 2048": {
        "n_gpus": 2, "parallel": "zero=3", "offload": "optimizer+parameters", "micro_batch": 4, "seq_len": 2048},
    "trl dpo --model_name_or_path Qwen/Qwen2.5-0.5B --use_peft --lora_r 32 --lora_target_modules q_proj v_proj "
    "--bf16 --max_length 1024": {"method": "dpo", "lora_rank": 32, "lora_targets": "q,v", "micro_batch": 8},
    "tune run --nproc_per_node 4 lora_finetune_distributed --config lora.yaml batch_size=8 model.lora_rank=16": {
        "framework": "torchtune", "n_gpus": 4, "micro_batch": 8, "lora_rank": 16, "parallel": "fsdp=full"},
    "llamafactory-cli train lora-sft.yaml cutoff_len=4096": {"framework": "llama-factory", "seq_len": 4096,
                                                             "lora_rank": 8},
    "axolotl train qlora.yml --micro-batch-size 4": {"framework": "axolotl", "micro_batch": 4, "lora_rank": 32},
    "deepspeed --num_gpus 8 main.py --model_name_or_path facebook/opt-1.3b --per_device_train_batch_size 8 "
    "--gradient_checkpointing --deepspeed --max_seq_len 512": {"n_gpus": 8, "model": "facebook/opt-1.3b",
                                                               "micro_batch": 8, "seq_len": 512},
    "NPROC_PER_NODE=4 swift sft --model Qwen/Qwen2.5-7B-Instruct --train_type lora --lora_rank 8 --max_length 2048 "
    "--torch_dtype bfloat16 --per_device_train_batch_size 1": {"n_gpus": 4, "method": "lora", "lora_rank": 8,
                                                               "seq_len": 2048, "framework": "ms-swift (trl)"},
}  # fmt: skip


@pytest.mark.parametrize("line", list(COMMANDS))
def test_pasted_commands_are_read(line: str, tmp_path: Path) -> None:
    for one in RUNS.rglob("*.*"):
        (tmp_path / one.name).write_bytes(one.read_bytes())
    found = read_command(line, CATALOG, folder=tmp_path)
    assert {k: found.case.get(k) for k in COMMANDS[line]} == COMMANDS[line]
    script = tmp_path / "train.sh"
    script.write_text(f"#!/bin/bash\nexport WANDB_MODE=offline\n# comment\n{line}\n")
    assert looks_like_run(script)
    assert read_run(script, CATALOG).case == found.case


def test_variables_of_a_script_are_put_in(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text('MODEL="Qwen/Qwen3-8B"\nBS=3\npython train.py --model_name_or_path $MODEL --use_peft '
                      "--per_device_train_batch_size ${BS}\n")  # fmt: skip
    found = read_run(script, CATALOG)
    assert (found.case["model"], found.case["micro_batch"]) == ("Qwen/Qwen3-8B", 3)


def test_a_file_that_is_named_is_opened_only_beside_the_one_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('{"zero_optimization": {"stage": 3}}')
    inner = tmp_path / "inner"
    inner.mkdir()
    for name in ("../secret.json", str(tmp_path / "secret.json")):
        found = read_command(f"python train.py --model gpt2 --deepspeed {name}", CATALOG, folder=inner)
        assert "parallel" not in found.case
        assert [n.code for n in found.notes if n.code == "run.note.companion_missing"]


def test_an_adapter_tells_base_rank_and_matrices(tmp_path: Path) -> None:
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps({"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen2.5-7B-Instruct", "r": 8,
                                "lora_alpha": 16, "lora_dropout": 0.1, "target_modules": ["q_proj", "v_proj"],
                                "use_dora": True, "modules_to_save": None, "task_type": "CAUSAL_LM"}))  # fmt: skip
    found = read_run(path, CATALOG)
    assert found.case == {"framework": "peft", "model": "Qwen/Qwen2.5-7B", "lora_rank": 8, "lora_dropout": 0.1,
                          "lora_targets": "q,v", "method": "dora"}  # fmt: skip


# files that are wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.yaml", b"base_model: [x\nmicro_batch_size: 1", "run.not_readable"),
        ("a.json", b'{"a": ', "run.not_readable"),
        ("a.yaml", b"\xff\xfe\x00", "run.not_text"),
        ("a.yaml", b"", "run.no_settings"),
        ("a.yaml", b"hello: world", "run.unknown"),
        ("a.yaml", b"x" * 200_000, "input.file_too_large"),
        ("a.yaml", b"a: " + b"[" * 60_000, "run.too_deep"),
        ("a.yaml", b"l0: &l0 [{}, {}]\n" + b"".join(b"l%d: &l%d [%s]\n" % (i, i, b", ".join([b"*l%d" % (i - 1)] * 9))
                                                    for i in range(1, 6)), "run.too_deep"),
        ("a.yaml", b"&a [*a]", "run.not_readable"),
        ("a.yaml", b"base_model: gpt2\nsequence_len: many", "run.not_a_number"),
        ("a.yaml", b"base_model: gpt2\nsequence_len: 1.5", "run.not_a_number"),
        ("a.sh", b"echo hello", "run.no_command"),
        ("a.sh", b"python train.py --x 'open", "run.bad_command"),
        ("adapter_config.json", b'{"peft_type": "VERA"}', "run.adapter_kind"),
    ],
)  # fmt: skip
def test_wrong_files_are_told(tmp_path: Path, name: str, content: bytes, code: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_run(tmp_path / name, CATALOG)
    assert caught.value.code == code
    for language in (Language("en"), Language("zh_CN")):
        assert name in language.error(caught.value)


# the command line -----------------------------------------------------------------------------------------------------


def test_fit_answers_for_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(RUNS / "axolotl/qlora.yml")
    main(["fit", path, "--gpu", "RTX 4090", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["job"]["lora"]["rank"] == 32
    assert {"key": "lora_alpha", "value": "16", "reason": "no_effect"} in answer["run"]["left"]
    for language, word in (("en", "Decides"), ("zh_CN", "决定什么")):
        main(["fit", path, "--gpu", "RTX 4090", "--lang", language])
        assert word in capsys.readouterr().out


def test_advise_answers_for_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(RUNS / "llama-factory/lora-sft.yaml")
    assert main(["advise", path, "--json"]) == 2  # how much data?
    assert "tokens=" in capsys.readouterr().err
    assert main(["advise", path, "--json", "--set", "tokens_per_example=300"]) == 0  # max_samples says how many
    assert json.loads(capsys.readouterr().out)["picks"]
    assert main(["fit", path, "--set", "nonsense"]) == 2


# what shards the weights decides how they are kept --------------------------------------------------------------------

FULL = "python train.py --model_name_or_path Qwen/Qwen2.5-7B --torch_dtype bfloat16 --bf16 True"


@pytest.mark.parametrize(
    ("more", "regime"),
    [
        ("", "pure-bf16"),
        (" --deepspeed ds_z2.json", "fp32-master"),
        (" --fsdp 'full_shard auto_wrap'", "fp32-master"),
    ],
)
def test_sharded_training_keeps_32_bit_weights(more: str, regime: str) -> None:
    found = read_command(FULL + more, CATALOG)
    answer = estimate_case({**case_of(found, {}), "gpu": "H100 SXM 80GB", "n_gpus": 8, "seq_len": 1024}, CATALOG)
    assert answer.layout.regime.value == regime
    assert task_fields(found)["regime"] == regime


def test_axolotl_in_16_bits_alone_has_no_32_bit_shards(tmp_path: Path) -> None:
    for word, regime in (("full", "pure-bf16"), ("auto", "fp32-master")):
        path = tmp_path / "a.yml"
        path.write_text(f"base_model: gpt2\nsequence_len: 512\nmicro_batch_size: 1\nbf16: {word}\n"
                        "fsdp: [full_shard, auto_wrap]\n")  # fmt: skip
        assert read_run(path, CATALOG).case["regime"] == regime


def test_an_adapter_s_folder_is_read_with_the_format_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(
        '{"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen3-8B", "r": 8, "target_modules": "all-linear"}'
    )
    header = b'{"a.lora_A.weight": {"dtype": "BF16", "shape": [4, 2], "data_offsets": [0, 16]}}'
    (tmp_path / "adapter_model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))
    assert looks_like_run(tmp_path)
    found = read_run(tmp_path, CATALOG)
    assert (found.case["lora_dtype"], found.case["lora_targets"], found.case["model"]) == (
        "bf16", "all-linear", "Qwen/Qwen3-8B",
    )  # fmt: skip
    assert main(["fit", str(tmp_path), "--gpu", "RTX 4090", "--set", "seq_len=1024", "--json"]) == 0


def test_estimate_answers_for_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(RUNS / "torchtune/full-single.yaml")
    assert main(["estimate", path, "--set", "gpu=H100 SXM 80GB", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["layout"]["optimizer"] == "paged_adamw_8bit"
    assert answer["memory"]["verdict"] in ("fits", "fits_tightly", "does_not_fit")
    assert answer["run"]["program"] == "torchtune"
