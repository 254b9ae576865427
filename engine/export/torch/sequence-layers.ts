// Modules of PyTorch for layers on the tokens of a text: their states have the names of our tensors.

import { pairFactor } from '../../../kernels/token-codes.ts';
import type { ResolvedLayer } from '../../model/resolve.ts';

const parameter = (name: string, shape: string): string => `        self.${name} = nn.Parameter(torch.zeros(${shape}))`;

/** An expression for the real positions of the sequences that a layer is given, [rows]; `None` = all. */
export function lengthsOf({ around: { positions, texts } }: ResolvedLayer): string {
  if (positions === null || positions.text === null) return 'None';
  const { column, length } = texts[positions.text];
  return `tokens_of(rows, ${column}, ${length})`;
}

export const tokensOfSource = `
def tokens_of(rows, column, length):
    """Tokens of each row of a text: padding, 0, stands behind them."""
    places = torch.arange(1, length + 1, device=rows.device)
    return ((rows[:, column : column + length] != 0) * places).amax(1).clamp(min=1)

`;

/** What every layer that asks for lengths asks: of a text, or of a sequence that is none, such as a picture's patches. */
export const realSource = `
def real(lengths, x):
    """[N, length]: whether a position is a token."""
    places = torch.arange(x.shape[1], device=x.device)
    return places < (x.shape[1] if lengths is None else lengths.unsqueeze(1)) * torch.ones_like(x[:, :1, 0])

`;

export const tokenEmbeddingSource = `
class TokenEmbedding(nn.Module):
    def __init__(self, tokens, dimensions, column, length, pairs):
        super().__init__()
        self.column, self.length, self.pairs = column, length, pairs
${parameter('weight', 'tokens, dimensions')}

    def forward(self, rows):
        codes = rows[:, self.column : self.column + self.length].long()
        if self.pairs:
            behind = F.pad(codes[:, 1:], (0, 1))
            codes = torch.where((codes > 0) & (behind > 0), (codes * ${pairFactor} + behind) % len(self.weight) + 1, 0)
        return F.embedding((codes - 1).clamp(0, len(self.weight) - 1), self.weight) * (codes > 0).unsqueeze(2)

`;

export const positionEmbeddingSource = `
class PositionEmbedding(nn.Module):
    def __init__(self, places, dimensions, segments):
        super().__init__()
${parameter('weight', 'places, dimensions')}
        self.segment = nn.Parameter(torch.zeros(segments, dimensions)) if segments else None

    def forward(self, x):
        places = self.weight[: x.shape[1]]
        return x + (places if self.segment is None else places + self.segment[0])

`;

export const wavesSource = `
class Waves(nn.Module):
    def __init__(self, places, dimensions, segments):
        super().__init__()
        self.register_buffer("waves", torch.zeros(places, dimensions))
        self.segment = nn.Parameter(torch.zeros(segments, dimensions)) if segments else None

    def forward(self, x):
        return x + (self.waves if self.segment is None else self.waves + self.segment[0])

`;

export const gatedDenseSource = `
class GatedDense(nn.Module):
    """Gates and values of one product."""

    def __init__(self, inputs, units, bias):
        super().__init__()
${parameter('weight', 'inputs, 2 * units')}
        self.bias = nn.Parameter(torch.zeros(2 * units)) if bias else None

    def forward(self, x, bend):
        gates, values = (x @ self.weight if self.bias is None else x @ self.weight + self.bias).chunk(2, -1)
        return bend(gates) * values

`;

export const attentionSource = `
class Attention(nn.Module):
    """Queries, keys and values are one product; a head of keys serves heads / groups of queries."""

    def __init__(self, width, heads, groups, causal, bias, turned=0, dropout=0.0):
        super().__init__()
        self.heads, self.groups, self.causal, self.size = heads, groups, causal, width // heads
        packed = (heads + 2 * groups) * self.size
${parameter('in_weight', 'width, packed')}
${parameter('out_weight', 'width, width')}
        self.in_bias = nn.Parameter(torch.zeros(packed)) if bias else None
        self.out_bias = nn.Parameter(torch.zeros(width)) if bias else None
        self.dropout = dropout
        # With rotary places: cosines of each place, then sines.
        self.register_buffer("angles", torch.zeros(turned, self.size) if turned else None)

    def turn(self, x):
        if self.angles is None:
            return x
        (a, b), (cos, sin) = x.chunk(2, -1), self.angles.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def forward(self, x, lengths):
        count, length, width = x.shape
        qkv = x @ self.in_weight if self.in_bias is None else x @ self.in_weight + self.in_bias
        parts = qkv.split([self.heads * self.size, self.groups * self.size, self.groups * self.size], 2)
        q, k, v = (part.reshape(count, length, -1, self.size).transpose(1, 2) for part in parts)
        q, k = self.turn(q), self.turn(k)
        k, v = (part.repeat_interleave(self.heads // self.groups, 1) for part in (k, v))
        tokens = real(lengths, x)
        seen = tokens[:, None, None, :].expand(count, 1, length, length)
        if self.causal:
            seen = seen.tril()
        mixed = F.scaled_dot_product_attention(q, k, v, seen, self.dropout if self.training else 0.0).transpose(1, 2).reshape(count, length, width)
        y = mixed * tokens.unsqueeze(2) @ self.out_weight
        return y if self.out_bias is None else y + self.out_bias

`;

export const poolPositionsSource = `
def pool_positions(x, lengths, pool):
    if pool == "first":
        return x[:, 0]
    tokens = real(lengths, x)
    if pool == "last":
        return x[torch.arange(len(x), device=x.device), tokens.sum(1) - 1]
    return (x * tokens.unsqueeze(2)).sum(1) / tokens.sum(1, keepdim=True)

`;

export const recurrentSource = `
class Recurrent(nn.Module):
    """LSTM (4 gates) or GRU (3) of PyTorch's equations; weights as x @ w, padding gives 0."""

    def __init__(self, gates, inputs, units, direction):
        super().__init__()
        self.gates, self.units = gates, units
        self.ways = ["", "back_"] if direction == "both" else ["" if direction == "forward" else "back_"]
        shapes = {"in_weight": (inputs, gates * units), "weight": (units, gates * units)}
        for way in self.ways:
            for name in ("in_weight", "weight", "in_bias", "bias"):
                setattr(self, way + name, nn.Parameter(torch.zeros(shapes.get(name, (gates * units,)))))

    def read(self, x, tokens, way):
        w, u, v, b = (getattr(self, way + name) for name in ("in_weight", "in_bias", "weight", "bias"))
        given, found = x @ w + u, [None] * x.shape[1]
        h = c = x.new_zeros(len(x), self.units)
        for t in reversed(range(x.shape[1])) if way else range(x.shape[1]):
            gates, own = given[:, t].split(self.units, 1), (h @ v + b).split(self.units, 1)
            if self.gates == 4:
                i, f, g, o = (a + b for a, b in zip(gates, own))
                cell = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                c, new = torch.where(tokens[:, t : t + 1], cell, c), torch.sigmoid(o) * torch.tanh(cell)
            else:
                r, z = torch.sigmoid(gates[0] + own[0]), torch.sigmoid(gates[1] + own[1])
                n = torch.tanh(gates[2] + r * own[2])
                new = n + z * (h - n)
            h = torch.where(tokens[:, t : t + 1], new, h)
            found[t] = h * tokens[:, t : t + 1]
        return torch.stack(found, 1)

    def forward(self, x, lengths):
        tokens = real(lengths, x)
        return torch.cat([self.read(x, tokens, way) for way in self.ways], 2)

`;

export const conv1dSource = `
class Conv1d(nn.Module):
    """Windows side by side, then one product; what stands behind the last token counts as 0."""

    def __init__(self, inputs, filters, taps, dilation, causal, bias):
        super().__init__()
        self.taps, self.dilation, self.reach = taps, dilation, (taps - 1) * dilation
        self.before = self.reach if causal else self.reach // 2
${parameter('weight', 'taps * inputs, filters')}
        self.bias = nn.Parameter(torch.zeros(filters)) if bias else None

    def forward(self, x, lengths):
        padded = F.pad(x * real(lengths, x).unsqueeze(2), (0, 0, self.before, self.reach - self.before))
        taps = [padded[:, k * self.dilation : k * self.dilation + x.shape[1]] for k in range(self.taps)]
        y = torch.cat(taps, 2) @ self.weight
        return y if self.bias is None else y + self.bias

`;

export const patchesSource = `
class Patches(nn.Module):
    def __init__(self, channels, dimensions, size, class_token):
        super().__init__()
        self.size = size
${parameter('weight', 'dimensions, channels, size, size')}
${parameter('bias', 'dimensions')}
        self.register_parameter("class", nn.Parameter(torch.zeros(1, dimensions)) if class_token else None)

    def forward(self, x):
        y = F.conv2d(x, self.weight, self.bias, stride=self.size).flatten(2).transpose(1, 2)
        first = getattr(self, "class")
        return y if first is None else torch.cat([first.expand(len(x), 1, -1), y], 1)

`;

export const attendedSource = `
class Attended(nn.Module):
    """A mean of the real positions whose weights are learned."""

    def __init__(self, width):
        super().__init__()
${parameter('query', 'width, 1')}

    def forward(self, x, lengths):
        scores = (x @ self.query).squeeze(2).masked_fill(~real(lengths, x), -1e30)
        return (scores.softmax(1).unsqueeze(1) @ x).squeeze(1)

`;
