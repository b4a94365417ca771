"""Faults of data sets."""

import os
import shutil
import subprocess
import sys

import msgspec

from trust.bench import A_RECORD, THE_RESULT, Bench, Outcome, fault, recorded, whole

_DATA = """
import sys, shutil, json
from pathlib import Path
from suite.data import batches, store
from suite.data.edition import Edition
from suite.data.prepare.pictures import Pixels
edition = Edition(train=200, test=20)
read = lambda: batches.digest(batches.batches("mnist", Pixels(), 50, 4, 1, edition=edition))
digest = read()
home = store.place("mnist", "embedded", edition)
shutil.copytree(home / "mnist", home / "kept")
(home / ".writing-killed" / "mnist").mkdir(parents=True)
found = {}
for file in sorted(p.relative_to(home / "kept") for p in (home / "kept").rglob("*") if p.is_file()):
    whole = (home / "kept" / file).read_bytes()
    middle = len(whole) // 2
    for how, content in {
        "missing": None, "empty": b"", "cut short": whole[:middle],
        "garbled": whole[:middle] + bytes(b ^ 255 for b in whole[middle:middle + 400]) + whole[middle + 400:],
    }.items():
        target = home / "mnist" / file
        target.unlink()
        if content is not None:
            target.write_bytes(content)
        try:
            found[f"{file.name} {how}"] = "as it was" if read() == digest else "OTHER DATA"
        except RuntimeError as error:
            told = "cannot be read" in str(error) and "remove that folder" in str(error)
            found[f"{file.name} {how}"] = "said" if told else f"UNCLEAR {error}"
        except Exception as error:
            found[f"{file.name} {how}"] = f"RAISED {type(error).__name__} {error}"
        target.write_bytes(whole)
shutil.rmtree(home / "mnist")
found["missing as a whole"] = "written anew" if read() == digest else "OTHER DATA"
print(json.dumps(found))
"""


@fault("a data set that is missing, half-written or corrupt, file by file", "said with what to do, or the same data",
       "the readers' checksums, and the digest of the batches", sample=True)  # fmt: skip
def _(place: Bench) -> Outcome:
    env = place.env | {"SUITE_DATA": str(place.folder / "data")}
    answer = subprocess.run([sys.executable, "-c", _DATA], env=env, capture_output=True, text=True, check=False)
    if answer.returncode:
        return False, answer.stderr[-400:]
    found = msgspec.json.decode(answer.stdout.splitlines()[-1], type=dict[str, str])
    bad = {name: words for name, words in found.items() if words.split()[0].isupper()}
    return not bad, str(bad or {words: list(found.values()).count(words) for words in sorted(set(found.values()))})


@fault("a corrupt data set in a whole run (real worker)", A_RECORD, "the reader")
def _(place: Bench) -> Outcome:
    place.env["SUITE_DATA"] = str(place.folder / "data")
    first = place.run("mnist_mlp", "--backend", "cpu", "--scope", "step")
    for file in (place.folder / "data").rglob("*.array_record*"):
        file.write_bytes(file.read_bytes()[:1000])
    shutil.rmtree(place.out)
    good, found = recorded(place.run("mnist_mlp", "--backend", "cpu", "--scope", "step"), "cannot be read")
    return good and first.good, found


@fault("no network, and no data yet (real worker)", f"{THE_RESULT} within 2 min", "a network of its own, without any")
def _(place: Bench) -> Outcome:
    place.env["SUITE_DATA"] = str(place.folder / "data")
    prefix = ("unshare", "-n") if os.getuid() == 0 else ("unshare", "-rn")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        return True, "not tried: no network can be taken away here"
    ran = place.run("mnist_mlp", "--backend", "cpu", "--scope", "step", prefix=prefix)
    return ran.good and ran.seconds < 120, f"{whole(ran)[1]} after {ran.seconds:.0f} s"
