"""One router written in the usual way: a module, a loader of single cases, loops over groups and numbers of readers.

The stacked population is timed against it. It shares no arithmetic with `router` and `losses` and so checks them: with
the same weights both have the same policy and loss, and the same gradient where no gate is shut. What `examples`
prepares (costs, groups, prior, scales) goes into both and is not checked by it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

from mpd2.training.config import Config, Network, Objective
from mpd2.training.inputs import Examples, TrainingInputs

TINY = 1e-8

Case = tuple[Tensor, Tensor, Tensor, Tensor]  # state [S], available [M], group, cost [1 + M]; a batch has one more axis


class Block(nn.Sequential):
    """Linear, ReLU, LayerNorm, Dropout."""

    def __init__(self, inputs: int, network: Network) -> None:
        width = network.width
        super().__init__(nn.Linear(inputs, width), nn.ReLU(), nn.LayerNorm(width), nn.Dropout(network.dropout))


class UsualRouter(nn.Module):
    """The dual-head network of one router."""

    def __init__(self, network: Network, inputs: TrainingInputs) -> None:
        super().__init__()
        readers = inputs.prior.shape[-1]
        self.mean, self.scale = inputs.normaliser.mean, inputs.normaliser.scale
        self.floor = network.temperature_floor
        self.sees = sees = inputs.encoders
        self.anatomy = nn.Linear(len(sees.structure), 1)
        self.risk, self.ai = Block(len(sees.risk), network), Block(len(sees.ai), network)
        self.structure = Block(2, network)
        self.fusion, self.mixing = Block(3 * network.width, network), Block(network.width, network)
        self.defer_hidden, self.trunk = Block(network.width, network), Block(network.width, network)
        self.defer = nn.Linear(network.width, 1)
        self.gate, self.allocation = nn.Linear(network.width, readers), nn.Linear(network.width, readers)
        self.temperature = nn.Parameter(torch.tensor(network.temperature - network.temperature_floor).expm1().log())

    def forward(self, state: Tensor, available: Tensor) -> tuple[Tensor, Tensor]:
        """d and q of every case, [B] and [B, M]; the gates are random in training and at their median otherwise."""
        scaled = (state - self.mean) / self.scale
        anatomy = torch.sigmoid(self.anatomy(state[:, self.sees.structure]))  # p_str, [B, 1]
        disagreement = (state[:, [self.sees.probability]] - anatomy).abs()
        risk = self.risk(scaled[:, self.sees.risk])
        structure = self.structure(torch.cat([2 * anatomy - 1, disagreement], dim=1))
        ai = self.ai(scaled[:, self.sees.ai])
        fused = self.mixing(self.fusion(torch.cat([risk, structure, ai], dim=1)))
        defer = torch.sigmoid(self.defer(self.defer_hidden(fused)))[:, 0] * available.any(1)

        trunk = self.trunk(fused)
        temperature = self.floor + functional.softplus(self.temperature)
        gates = self.gate(trunk)
        if self.training:
            gates = gates + torch.logit(torch.rand_like(gates))
        relaxed = torch.sigmoid(gates / temperature) * available
        hard = (gates >= 0) & available
        repaired = torch.where(hard.any(1, keepdim=True), hard, available)
        support = repaired + relaxed - relaxed.detach()
        logits = (self.allocation(trunk) / temperature).masked_fill(~available, -1e9)
        shared = torch.softmax(logits, dim=1) * available * support
        return defer, shared / shared.sum(1, keepdim=True).clamp_min(TINY)


def gsdp(defer: Tensor, allocation: Tensor, group: Tensor, prior: Tensor) -> Tensor:
    """L_GSDP, group by group."""
    loss = defer.new_zeros(())
    for g in group.unique():
        members = group == g
        mass = defer[members].sum()  # D_g
        if mass > 0:
            mean = (defer[members, None] * allocation[members]).sum(0) / mass  # q̃_g
            divergence = (mean * (mean.clamp_min(TINY) / prior[g].clamp_min(TINY)).log()).sum()
            loss = loss + mass / defer.sum() * divergence
    return loss


def rank_js(defer: Tensor, allocation: Tensor, available: Tensor, objective: Objective) -> Tensor:
    """L_rank, one number of available readers after another."""
    loss = defer.new_zeros(())
    readers = available.sum(1)
    for k in range(2, int(readers.max()) + 1):
        members = readers == k
        if not members.any():
            continue
        decay = objective.rank_decay[min(k - 2, len(objective.rank_decay) - 1)]
        reference = decay ** torch.arange(k, dtype=defer.dtype)
        reference = reference / reference.sum()
        ranked = allocation[members].sort(dim=1, descending=True).values[:, :k]
        excess = (ranked.cumsum(1) - reference.cumsum(0)).amax(1)
        middle = (ranked + reference) / 2
        left = (ranked * (ranked.clamp_min(TINY) / middle).log()).sum(1)
        right = (reference * (reference / middle).log()).sum(1)
        peaked = excess > objective.rank_margin + 1e-6
        loss = loss + (defer[members] * peaked * (left + right) / 2).sum()
    return loss / defer.sum().clamp_min(TINY)


def total_loss(
    router: UsualRouter, batch: Case, prior: Tensor, config: Config, multiplier: float
) -> tuple[Tensor, Tensor]:
    """The whole objective of a batch, and the batch's soft deferral rate."""
    state, available, group, cost = batch
    defer, allocation = router(state, available)
    routing = ((1 - defer) * cost[:, 0] + defer * (allocation * cost[:, 1:]).sum(1)).mean()
    objective, budget = config.objective, config.budget
    loss = routing + objective.gsdp_weight * gsdp(defer, allocation, group, prior)
    loss = loss + objective.rank_weight * rank_js(defer, allocation, available, objective)
    excess = defer.mean() - (1.0 if budget.target is None else budget.target)
    return loss + multiplier * excess + budget.penalty / 2 * excess.clamp_min(0) ** 2, defer.mean()


class Cases(Dataset[Case]):
    """Cases one by one."""

    def __init__(self, examples: Examples) -> None:
        self.examples = examples
        self.group = examples.group.argmax(1)

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, index: int) -> Case:
        examples = self.examples
        return examples.state[index], examples.available[index], self.group[index], examples.cost[0, index]


class UsualTraining:
    """The training of one router, epoch by epoch."""

    def __init__(self, config: Config, inputs: TrainingInputs) -> None:
        torch.manual_seed(config.seed)
        self.config, self.prior, self.multiplier = config, inputs.prior[0], 0.0
        self.router = UsualRouter(config.network, inputs)
        settings = config.training
        self.optimiser = torch.optim.AdamW(
            self.router.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.train_cases = DataLoader(Cases(inputs.train), settings.batch_size, shuffle=True)
        self.val_cases = DataLoader(Cases(inputs.val), settings.batch_size)

    def epoch(self) -> float:
        """One pass over the train cases, a step of the multiplier, and the cost of the val cases."""
        self.router.train()
        deferred = []
        for batch in self.train_cases:
            loss, rate = total_loss(self.router, batch, self.prior, self.config, self.multiplier)
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
            deferred.append(rate.item())
        if self.config.budget.target is not None:
            excess = sum(deferred) / len(deferred) - self.config.budget.target
            self.multiplier = max(0.0, self.multiplier + self.config.budget.dual_step * excess)
        return self._validate()

    @torch.no_grad()
    def _validate(self) -> float:
        self.router.eval()
        costs = []
        for state, available, _, cost in self.val_cases:
            defer, allocation = self.router(state, available)
            costs += ((1 - defer) * cost[:, 0] + defer * (allocation * cost[:, 1:]).sum(1)).tolist()
        return sum(costs) / len(costs)
