"""Families of small workloads: their names say their size, both frameworks compute them, and no list names them."""

import numpy as np
import pytest
from flax import nnx

from suite import controls, controls_xgboost, families, models
from suite.case import Case
from suite.programs import source_digest

ABOUT = tuple(models.load(name).description for name in families.NAMES)


def test_a_size_is_in_its_name_and_no_documented_model_has_one():
    assert families.size_of("crossover_mlp_128x2") == families.Size(width=128, depth=2)
    assert families.size_of("crossover_trees_45") == families.Size(width=45, depth=0)
    for name in (*models.names(), "crossover_mlp_128", "crossover_trees_5x2", "crossover_mlp_0x2", "crossover_mlp_"):
        assert not families.family_of(name)
        with pytest.raises(LookupError, match=f"no family has a workload '{name}'; there are: crossover_mlp_32x2"):
            families.size_of(name)


def test_members_are_no_documented_models():
    assert not set(families.NAMES) & set(models.names())
    assert not any(about.documented for about in ABOUT)
    assert all(models.load(name).description.documented for name in models.names())


def test_what_no_package_makes_is_an_unknown_model():
    with pytest.raises(LookupError, match="no control for workload 'crossover_trees_5'"):
        controls.load("crossover_trees_5")
    with pytest.raises(LookupError, match="no workload 'crossover_mlp_big'"):
        models.load("crossover_mlp_big")


def test_the_flop_of_a_network_are_those_of_its_layers():
    about = models.load("crossover_mlp_64x3").description
    layer, output = 2 * 64 * 64, 2 * 64 * 10
    assert about.forward_flop_per_example == 3 * layer + output
    assert about.flop_per_example == 3 * (3 * layer + output) - layer
    assert about.parameters == 3 * (64 * 64 + 64) + 64 * 10 + 10


@pytest.mark.parametrize("columns", [5, 45])
def test_a_table_has_the_columns_of_its_name_on_both_sides(columns):
    name = f"crossover_trees_{columns}"
    mine, theirs = (side.load(name).draw(np.random.default_rng(1), 64) for side in (models, controls_xgboost))
    assert mine["bins"].shape == (64, columns)
    assert all(np.array_equal(mine[part], theirs[part]) for part in ("bins", "labels"))


def test_the_table_of_45_columns_is_the_documented_one():
    drawn, documented = (
        models.load(name).draw(np.random.default_rng(1), 64) for name in ("crossover_trees_45", "gbdt_mortgage")
    )
    assert np.array_equal(drawn["bins"], documented["bins"])


# Networks


def loss_of(layers, batch):
    """The mean cross-entropy of a dense network in NumPy; `layers` are kernels [I,O] and biases."""
    x = batch["inputs"].astype(np.float64)
    for kernel, bias in layers[:-1]:
        x = np.maximum(x @ kernel + bias, 0)
    logits = x @ layers[-1][0] + layers[-1][1]
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -np.mean((batch["labels"] * logs).sum(axis=1))


def test_the_model_computes_the_network_of_its_name():
    workload = models.load("crossover_mlp_16x3")
    network, batch = workload.model(nnx.Rngs(0)), workload.draw(np.random.default_rng(1), 8)
    layers = [(np.asarray(x.kernel[...]), np.asarray(x.bias[...])) for x in (*network.hidden, network.output)]
    assert [kernel.shape for kernel, _ in layers] == [(16, 16)] * 3 + [(16, 10)]
    assert float(workload.loss(network, batch)) == pytest.approx(loss_of(layers, batch), rel=1e-5)
    assert sum(kernel.size + bias.size for kernel, bias in layers) == workload.description.parameters


def test_the_control_computes_the_same_network():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    control = controls.load("crossover_mlp_16x3")
    network, batch = control.model(), control.draw(np.random.default_rng(1), 8)
    linear = [layer for layer in network.layers if isinstance(layer, torch.nn.Linear)]
    layers = [(layer.weight.detach().numpy().T, layer.bias.detach().numpy()) for layer in linear]
    assert [kernel.shape for kernel, _ in layers] == [(16, 16)] * 3 + [(16, 10)]
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    assert float(control.loss(network, tensors)) == pytest.approx(loss_of(layers, batch), rel=1e-5)


def test_two_sizes_of_a_control_have_two_digests():
    def digest(name):
        case = Case(workload=name, backend="cpu", scope="step", batch=32, implementation="torch")
        return source_digest.of_case(controls_xgboost.Control, "suite.controls", case)

    one, other = digest("crossover_mlp_32x2"), digest("crossover_mlp_64x2")
    assert one != other
    assert one.split()[0] == other.split()[0]
    assert len(digest("mnist_mlp").split()) == 3
