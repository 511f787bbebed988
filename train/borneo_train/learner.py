"""PPO by self-play, from top to bottom: one network plays all seats of all games, and learns from every decision.

A rollout plays every game on for some decisions. The critic values all seats at each of them, so advantages run along
the table's common time line (see `advantages`). An update goes through the rollout in minibatches. Games, networks and
rollouts stay on one device. On a card both are recorded once as CUDA graphs and then replayed, because starting
thousands of small kernels one by one takes longer than running them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from borneo_agents.policy.model import LEAD_LEFT, Model
from borneo_agents.policy.network import Layer
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from borneo_env.engine.state import SEATS
from borneo_train.actor_critic import actor_of, critic_of, judged_actions, masked, quick_networks
from borneo_train.adam import adam, none_yet
from borneo_train.advantages import advantages, mean_and_spread, shares_of, standard
from borneo_train.games import Games, games_of, seats_in_order, seats_on_table, some_games, wins
from borneo_train.network import Dense, apply, dense, hidden, prepared
from borneo_train.on_card import WARM_UP, Recorded, RecordedStep, meanwhile, side_by_side
from borneo_train.on_cpu import drawn
from borneo_train.opponents import Opponents, drawn_by, layers_of, undecided
from borneo_train.settings import SEEDS, Settings, shape
from borneo_train.together import ALONE, Together
from borneo_train.widening import fitted

QUICK = "quick"  # how names of smaller networks begin, which not all learners have
NAMES = ("actor", "critic", f"{QUICK}_actor", f"{QUICK}_critic")
TOLD = ("policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
QUICK_KL = f"{QUICK}_kl"
WORKERS_APART = 2**40 + 0x9E3779B1  # between the seeds of two workers; torch looks at 32 bits of a seed on a CPU
KEPT = ("decisions", "updates", "progress", "caution")  # numbers of a learner that a checkpoint holds
OWN = ("gained", "generator")  # tensors that each worker has of its own


class Rollout:
    """The decisions between two updates: (moments, games, ...) each."""

    def __init__(self, settings: Settings, games: Games) -> None:
        shape, device = (settings.n_steps, len(games)), games.device
        self.table = torch.empty(*shape, games.table.shape[1], dtype=torch.int8, device=device)
        self.mask = torch.empty(*shape, games.actions, dtype=torch.bool, device=device)
        self.action = torch.empty(*shape, dtype=torch.int64, device=device)
        self.logp = torch.empty(*shape, device=device)
        self.seat = torch.empty(*shape, dtype=torch.int64, device=device)
        self.reward = torch.empty(*shape, SEATS, device=device)
        self.done = torch.empty(*shape, dtype=torch.bool, device=device)
        self.own = torch.empty(*shape, dtype=torch.bool, device=device)  # decided by the learner
        self.value = torch.empty(settings.n_steps + 1, len(games), SEATS, device=device)  # by seat; one moment more


class Learner:
    """Networks, games, and how the first learn from the second."""

    def __init__(self, settings: Settings, together: Together = ALONE) -> None:
        """Of several that learn together, each has a part of the games, and of each minibatch."""
        self.settings = settings
        self.together = together
        self.device = torch.device(settings.device)
        self.on_card = self.device.type == "cuda"
        self.numbers = torch.bfloat16 if self.on_card else torch.float32
        torch.manual_seed(settings.seed)
        seed = (settings.seed + together.rank * WORKERS_APART) % SEEDS
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self.order = torch.Generator().manual_seed(settings.seed)
        self.games = games = games_of(settings, settings.n_envs // together.count, seed)
        games.spread_out(self.generator)
        actor, critic = shape(settings.actor, "--actor"), shape(settings.critic, "--critic")
        self.actor = actor_of(settings.network, settings.edition, games.known, *actor)
        self.critic = critic_of(settings.network, settings.edition, *critic)
        self.quick = quick_networks(settings, games.known)
        self.networks: list[Any] = [network.to(self.device) for network in (self.actor, self.critic, *self.quick)]
        self.rate = torch.tensor(settings.learning_rate, device=self.device)
        self.optimizers = [adam(network, self.rate) for network in self.networks]
        for optimizer in self.optimizers:
            none_yet(optimizer)
        self.rollout = Rollout(settings, games)
        self.plays_ahead = self.on_card and bool(games.with_bots.any())  # bots keep the CPU busy, updates the card
        self.ahead: Rollout | None = None  # the next rollout, if it was played already
        self._spare: Rollout | None = None  # room for it
        self._practised = False  # whether steps were recorded: while that is done, nobody plays
        self.others = layers_of(settings.opponent, settings.edition)
        self.opponents = Opponents(games, settings.frozen, certain=self.others is not None)
        self.scale = torch.ones((), device=self.device)  # of returns: the critic learns them divided by it
        self.lead = torch.tensor(settings.lead, device=self.device)
        self.ent_coef = torch.tensor(settings.ent_coef, device=self.device)
        self.gained = torch.zeros(len(games), SEATS, device=self.device)  # by each seat, in the game it is in
        self.ended = torch.zeros(len(games), device=self.device)  # what a seat got in games that ended in a rollout
        self.told_of = (*TOLD, QUICK_KL) if self.quick else TOLD
        self.told = torch.zeros(len(self.told_of), device=self.device)  # sums of an update
        self.present = torch.arange(SEATS, device=self.device) < games.players[:, None]
        self.decisions = self.updates = 0
        self.progress = 0.0  # the part of the training that is over
        self.caution = 1.0  # what is left of the learning rate after updates that went too far
        self._play, self._step = self._play_now, self._step_now
        if self.on_card:
            self._step = RecordedStep(self._step_now)
            if not self.plays_ahead:  # bots play on the CPU
                self._play = Recorded(self._play_now, self.generator)
        self.freeze()

    # ------------------------------------------------------------ going on later

    def tensors(self) -> dict[str, Tensor]:
        """All that a checkpoint holds, in place."""
        found = {
            "gained": self.gained,
            "order": self.order.get_state(),
            "generator": self.generator.get_state(),
        }
        for number, layer in enumerate(self.opponents.network):
            parts = layer._asdict().items()
            found |= {f"frozen.{number}.{part}": tensor for part, tensor in parts if tensor is not None}
        return found | self.learnt()

    def learnt(self) -> dict[str, Tensor]:
        """What it has learnt, in place: all networks, what their optimisers remember, and the scale of returns."""
        found = {"scale": self.scale}
        for name, network, optimizer in zip(NAMES, self.networks, self.optimizers, strict=False):
            found |= {f"{name}.{part}": tensor for part, tensor in network.state_dict().items()}
            for number, parameter in enumerate(network.parameters()):
                moments = optimizer.state[parameter].items()
                found |= {f"{name}.adam.{number}.{moment}": tensor for moment, tensor in moments}
        return found

    @torch.no_grad()
    def begin_with(self, tensors: dict[str, Tensor]) -> None:
        """Begin with what another one has learnt, its tensors of the right names and shapes; it may have none quick."""
        for name, own in self.learnt().items():
            if name in tensors:
                own.copy_(tensors[name])
        self.updates = 1  # or the first one would find another scale
        self.freeze()

    @torch.no_grad()
    def begin_with_model(self, model: Model) -> None:
        """Begin with the networks of a policy, or wider ones that play the same; another size is a ValueError."""
        if model.card.edition != self.settings.edition:
            raise ValueError(f"it is of the {model.card.edition} edition: train with --edition {model.card.edition}")
        if model.critic is None:
            raise ValueError("it has no critic")
        actor, critic = fitted(model.layers, self.actor), fitted(model.critic, self.critic)
        self.actor.take(actor)
        self.critic.take(critic)
        values = self._valued(self._layers(self.critic), self._as_numbers(some_games(self.settings).table))
        self.scale.copy_(values.std())  # about that of returns, and the same for all who learn together
        *before, last = critic
        scale = float(self.scale)
        self.critic.take([*before, Layer(last.weights / scale, last.biases / scale)])
        self.updates = 1  # or the first one would find another scale
        self.freeze()

    @torch.no_grad()
    def agree(self) -> None:
        """Have all who learn together begin with what the first one has."""
        for name, tensor in self.tensors().items():
            if name not in ("order", *OWN):
                self.together.share(tensor)

    def numbers_kept(self) -> dict[str, float]:
        """The numbers that a checkpoint holds beside them."""
        return {name: getattr(self, name) for name in KEPT}

    @torch.no_grad()
    def take_up(self, tensors: dict[str, Tensor], numbers: dict[str, float]) -> None:
        """Go on from a checkpoint; its tensors are of the right names and shapes."""
        for name, own in self.tensors().items():
            if name not in ("order", "generator"):
                own.copy_(tensors[name])
        self.order.set_state(tensors["order"])
        self.generator.set_state(tensors["generator"])
        for name, value in numbers.items():
            setattr(self, name, value)

    # ------------------------------------------------------------ playing

    @torch.no_grad()
    def play(self) -> None:
        """Play every game on for the decisions of one rollout, or take the one that was played ahead."""
        if self.ahead is None:
            self._set_lead()
            self._play()
        else:
            self.rollout, self._spare, self.ahead = self.ahead, self.rollout, None
        self.decisions += self.rollout.action.numel() * self.together.count

    @torch.no_grad()
    def _play_ahead(self, networks: list[list[Dense]]) -> None:
        """Play the next rollout as the networks were, while the card changes them."""
        self._set_lead()
        self.ahead = self._spare or Rollout(self.settings, self.games)
        self._play_into(self.ahead, *networks)

    @torch.no_grad()
    def _networks_now(self) -> list[list[Dense]]:
        """Both networks, as they will not be for long."""
        return [[layer.each(torch.clone) for layer in self._layers(network)] for network in (self.actor, self.critic)]

    def settle(self) -> None:
        """Learn from what was played ahead, and play nothing more: then nothing is under way."""
        if self.ahead is not None:
            self.play()
            self.learn(ahead=False)

    def _set_lead(self) -> None:
        self.lead.fill_(self.settings.lead * (1 - (1 - LEAD_LEFT) * self.progress))

    def _play_now(self) -> None:
        self._play_into(self.rollout, self._layers(self.actor), self._layers(self.critic))

    def _play_into(self, kept: Rollout, actor: list[Dense], critic: list[Dense]) -> None:
        games = self.games
        self.ended.zero_()
        for moment in range(self.settings.n_steps):
            self.opponents.mark()
            kept.table[moment], kept.mask[moment], kept.seat[moment] = games.table, games.mask, games.seat
            chance = torch.rand(len(games), generator=self.generator, device=self.device)
            (action, logp), value = self._judged(actor, critic, chance)
            self.opponents.decide(action, chance)
            kept.action[moment], kept.logp[moment], kept.value[moment] = action, logp, self._by_seat(value)
            kept.own[moment] = ~self.opponents.asked()
            games.play(kept.action[moment])
            kept.reward[moment] = wins(games, self.lead) if self.settings.task == "win" else games.reward
            kept.done[moment] = games.done
            self.gained += kept.reward[moment]
            self.ended += torch.where(games.done, self.gained.sum(1) / games.players, 0.0)
            self.gained *= ~games.done[:, None]
        self.opponents.mark()
        kept.value[-1] = self._by_seat(self._valued(critic, games.table))

    @torch.no_grad()
    def freeze(self) -> None:
        """Let the learner as it is now play the seats of earlier versions; a policy from elsewhere keeps them."""
        if self.settings.opponent:
            others = self.others or undecided(self.games)
            self.opponents.be(self._prepared([dense(layer, self.device) for layer in others]))
        else:
            self.opponents.be(self._layers(self.actor))

    def _layers(self, network: Any) -> list[Dense]:
        """A network as it is applied to tables."""
        return self._prepared(network.layers())

    def _prepared(self, layers: list[Dense]) -> list[Dense]:
        """Layers as the device wants them: padded, on a card."""
        return prepared(layers, self.numbers) if self.on_card else layers

    def _judged(self, actor: list[Dense], critic: list[Dense], chance: Tensor) -> list[Any]:
        """Actions drawn by their odds with the logarithms of these, and what the critic thinks."""
        table, mask = self._as_numbers(self.games.table), self.games.mask
        return side_by_side(
            self.device, lambda: self._chosen(actor, table, mask, chance), lambda: self._valued(critic, table)
        )

    def _as_numbers(self, table: Tensor) -> Tensor:
        """Tables as both networks want them; on a card each makes its own, as a part of its first product."""
        return table if self.on_card else table.float()

    def _chosen(self, actor: list[Dense], table: Tensor, mask: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
        if not self.on_card:
            return drawn(hidden(actor, table), actor[-1].weight, actor[-1].bias, mask, chance)
        odds = torch.log_softmax(masked(apply(actor, table), mask), 1)
        action = drawn_by(odds.exp(), chance)
        return action, odds.gather(1, action[:, None])[:, 0]

    def _valued(self, critic: list[Dense], table: Tensor) -> Tensor:
        return apply(critic, table).float()

    def _by_seat(self, value: Tensor) -> Tensor:
        """What the critic thinks of the seats, in their order, as returns."""
        return value.gather(1, seats_on_table(self.games.seat, self.games.players)) * self.scale * self.present

    # ------------------------------------------------------------ learning

    def learn(self, ahead: bool = True) -> dict[str, float]:
        """Go through the rollout; returns what one looks at. Who plays ahead plays the next one meanwhile."""
        settings, kept, total = self.settings, self.rollout, self.together.total
        self._set_rates()
        episodes = self._episodes()
        found = advantages(kept.reward, kept.done, kept.value, settings.gamma, settings.gae_lambda)
        returns = found + kept.value[:-1]
        spread = mean_and_spread(returns, self.present, self.together)[1]
        there = total(self.present.sum() * settings.n_steps)
        explained = 1 - total((found.square() * self.present).sum()) / there / spread.square()
        self.scale.copy_(spread if not self.updates else 0.99 * self.scale + 0.01 * spread)
        own = found.gather(2, kept.seat[..., None])[..., 0]
        own = standard(own, kept.own, self.together)
        seats = seats_in_order(kept.seat, self.games.players.expand_as(kept.seat))
        target = returns.gather(2, seats) / self.scale
        parts = settings.n_envs // settings.batch_size
        shares = shares_of(kept.own, parts, self.together)
        rows = (kept.table, kept.mask, kept.action, kept.logp, own, shares, target, self.present.expand_as(returns))
        minibatches = [*product(range(settings.n_steps), range(parts))] * settings.n_epochs
        self.told.zero_()
        order = [minibatches[number] for number in torch.randperm(len(minibatches), generator=self.order).tolist()]
        steps = partial(self._take_steps, rows, order, parts)
        if ahead and self.plays_ahead and self._practised:
            meanwhile(self.device, steps, partial(self._play_ahead, self._networks_now()))
        else:
            steps()
            self._practised |= len(order) > WARM_UP
        self.updates += 1
        told = total(self.told) / (len(minibatches) * self.together.count)
        figures = episodes | dict(zip(self.told_of, told.tolist(), strict=True))
        further = figures["approx_kl"] > settings.target_kl
        self.caution = max(0.1, self.caution * 0.9) if further else min(1.0, self.caution * 1.02)
        return figures | {"explained_variance": float(explained), "learning_rate": float(self.rate)}

    def _take_steps(self, rows: tuple[Tensor, ...], minibatches: list[tuple[int, int]], parts: int) -> None:
        """One step for each minibatch: a part of the games at some moment."""
        for moment, part in minibatches:
            self._step(*(tensor[moment, part::parts] for tensor in rows))
        self.together.finish()

    def is_sound(self) -> bool:
        """Whether its weights are numbers: an update that goes much too far leaves none."""
        weights = [parameter for network in self.networks for parameter in network.parameters()]
        return bool(torch.stack([torch.isfinite(part).all() for part in weights]).all())

    def _episodes(self) -> dict[str, float]:
        """Of the games that ended in this rollout, what a seat got in all, on the average, and their decisions."""
        together = self.together
        ended = together.total(self.rollout.done.sum()).clamp(1)
        length = self.rollout.done.numel() * together.count / ended
        return {"ep_rew_mean": float(together.total(self.ended.sum()) / ended), "ep_len_mean": float(length)}

    def _set_rates(self) -> None:
        rate = self.settings.learning_rate * (1 - 0.95 * self.progress) * self.caution
        self.rate.fill_(rate)
        self.ent_coef.fill_(self.settings.ent_coef * (1 - 0.9 * self.progress))
        if not self.on_card:
            for optimizer in self.optimizers:
                optimizer.param_groups[0]["lr"] = rate

    def _step_now(self, *rows: Tensor) -> None:
        """One step of the optimisers, on a minibatch; actor and critic have nothing in common."""
        table, mask, action, old, advantage, share, target, there = rows
        table = self._as_numbers(table)
        actor, critic = side_by_side(
            self.device,
            lambda: self._improve(0, self._actor_loss, table, mask, action, old, advantage, share),
            lambda: self._improve(1, self._critic_loss, table, target, there, self.critic),
        )
        quick = self._improve(2, self._quick_actor_loss, table, mask) if self.quick else []
        if self.quick:
            self._improve(3, self._critic_loss, table, target, there, self.quick[1])
        if self.on_card:
            self.together.finish()  # what is recorded is a whole step
        policy, *others = actor
        self.told += torch.stack([policy, *critic, *others, *quick])

    def _improve(self, number: int, loss_of: Callable[..., Any], *rows: Any) -> list[Tensor]:
        """One step of one network; returns what is told of it."""
        network, optimizer = self.networks[number], self.optimizers[number]
        self.together.finish(network)  # the step before
        loss, told = loss_of(*rows)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.together.average(network, lambda: self._advance(number))
        return [figure.detach() for figure in told]

    def _advance(self, number: int) -> None:
        """Take the step that the gradients of a network say."""
        clip_grad_norm_(self.networks[number].parameters(), self.settings.max_grad_norm)
        self.optimizers[number].step()

    def _actor_loss(
        self, table: Tensor, mask: Tensor, action: Tensor, old: Tensor, advantage: Tensor, share: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        logp, entropies = judged_actions(self._layers(self.actor), table, mask, action)
        change = torch.where(share > 0, logp - old, 0.0)  # what others decided teaches the critic only
        ratio = change.exp()
        clipped = ratio.clamp(1 - self.settings.clip_range, 1 + self.settings.clip_range)
        policy = -(share * torch.minimum(ratio * advantage, clipped * advantage)).sum()
        entropy, divergence = (share * entropies).sum(), (share * (ratio - 1 - change)).sum()
        outside = (share * ((ratio - 1).abs() > self.settings.clip_range)).sum()
        return policy - self.ent_coef * entropy, [policy, entropy, divergence, outside]

    def _quick_actor_loss(self, table: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """How far the odds of the quick actor are from the actor's."""
        with torch.no_grad():
            odds = torch.log_softmax(masked(apply(self._layers(self.actor), table), mask), 1)
        own = torch.log_softmax(masked(apply(self._layers(self.quick[0]), table), mask), 1)
        loss = (odds.exp() * (odds - own)).sum(1).mean()
        return loss, [loss]

    def _critic_loss(self, table: Tensor, target: Tensor, there: Tensor, critic: Any) -> tuple[Tensor, list[Tensor]]:
        values = apply(self._layers(critic), table).float()
        loss = ((values - target).square() * there).sum() / there.sum()
        return loss, [loss]
