"""imdb_bilstm in PyTorch."""

from functools import partial

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import adam
from suite.data.prepare.words import Subwords


class ImdbBilstm(nn.Module):
    """Embedding 8185x64, bidirectional LSTM 64, dense 64 with ReLU, dense 1."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(8185, 64)
        self.lstm = nn.LSTM(64, 64, bidirectional=True)
        for name in ("bias_hh_l0", "bias_hh_l0_reverse"):  # Keras has one bias, torch adds two
            delattr(self.lstm, name)
            self.lstm.register_buffer(name, torch.zeros(256))
        self.lstm._init_flat_weights()
        self.hidden = nn.Linear(128, 64)
        self.output = nn.Linear(64, 1)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Map subword ids int32[N,T] to logits float32[N]."""
        x = self.embedding(tokens.t())  # T N 64
        _, (last, _) = self.lstm(x)  # 2 N 64
        x = functional.relu(self.hidden(torch.cat([last[0], last[1]], 1)))  # N 64
        return self.output(x)[:, 0]


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.binary_cross_entropy_with_logits(model(batch["tokens"]), batch["labels"])


CONTROL = Control(model=ImdbBilstm, loss=loss, optimizer=partial(adam, learning_rate=1e-4), preparation=Subwords())
