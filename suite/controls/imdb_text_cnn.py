"""imdb_text_cnn in PyTorch."""

import torch
from torch import nn
from torch.nn import functional

from suite.controls._base import Batch, Control
from suite.controls._optimizers import adam
from suite.data.prepare.words import Words


class ImdbTextCnn(nn.Module):
    """Embedding 5000x50, 250 filters of width 3, global max pool, dense 250, dense 1; dropout 0.2."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5000, 50)
        self.conv = nn.Conv1d(50, 250, 3)
        self.hidden = nn.Linear(250, 250)
        self.output = nn.Linear(250, 1)
        self.dropout = nn.Dropout(0.2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Map word ids int32[N,400] to logits float32[N]."""
        x = self.dropout(self.embedding(tokens))
        x = functional.relu(self.conv(x.transpose(1, 2)).amax(2))
        x = functional.relu(self.dropout(self.hidden(x)))
        return self.output(x)[:, 0]


def loss(model: nn.Module, batch: Batch) -> torch.Tensor:
    """Return the mean cross-entropy of a batch."""
    return functional.binary_cross_entropy_with_logits(model(batch["tokens"]), batch["labels"])


CONTROL = Control(model=ImdbTextCnn, loss=loss, optimizer=adam, preparation=Words())
