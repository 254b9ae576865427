// Modules of PyTorch for the layers of networks for tables: their states have the names of our tensors. B rows, M members.

const parameter = (name: string, shape: string): string => `        self.${name} = nn.Parameter(torch.zeros(${shape}))`;

export const robustScaleSource = `
class RobustScale(nn.Module):
    """Fitted to the training rows: median 0, quartiles 1 apart; outliers bent in below the limit."""

    def __init__(self, columns, limit):
        super().__init__()
        self.limit = limit
        self.register_buffer("shift", torch.zeros(columns))
        self.register_buffer("scale", torch.ones(columns))

    def forward(self, x):
        x = x * self.scale + self.shift
        return x / (1 + (x / self.limit).square()).sqrt() if self.limit else x

`;

export const scaleSource = `
class Scale(nn.Module):
    def __init__(self, *shape):
        super().__init__()
${parameter('weight', 'shape')}

    def forward(self, x):
        return x * self.weight

`;

export const numberEmbeddingSource = `
class NumberEmbedding(nn.Module):
    """Each number x becomes x and weighted sums of cos 2 pi (frequency x + phase); the other columns follow."""

    def __init__(self, columns, numbers, frequencies, width):
        super().__init__()
        self.numbers = numbers
        self.others = [column for column in range(columns) if column not in set(numbers)]
        count = len(numbers)
${parameter('frequency', 'count, 1, frequencies')}
${parameter('phase', 'count, 1, frequencies')}
${parameter('weight', 'count, frequencies, width - 1')}
${parameter('bias', 'count, 1, width - 1')}

    def forward(self, x):
        values = x[:, self.numbers].T.unsqueeze(2)
        waves = torch.cos(2 * torch.pi * (values * self.frequency + self.phase))
        embedded = torch.cat([values, waves @ self.weight + self.bias], dim=2)
        return torch.cat([embedded.transpose(0, 1).flatten(1), x[:, self.others]], dim=1)

`;

export const membersSource = `
class Members(nn.Module):
    def __init__(self, members, columns):
        super().__init__()
${parameter('factor', 'members, columns')}

    def forward(self, x):
        return x.unsqueeze(1) * self.factor

`;

export const ownDenseSource = `
class OwnDense(nn.Module):
    """Each member has weights of its own."""

    def __init__(self, members, inputs, units):
        super().__init__()
${parameter('weight', 'members, inputs, units')}
${parameter('bias', 'members, 1, units')}

    def forward(self, x):
        return (x.transpose(0, 1) @ self.weight + self.bias).transpose(0, 1)

`;

export const memberDenseSource = `
class MemberDense(nn.Module):
    def __init__(self, members, inputs, units):
        super().__init__()
${parameter('weight', 'units, inputs')}
${parameter('input_factor', 'members, inputs')}
${parameter('unit_factor', 'members, units')}
${parameter('bias', 'members, units')}

    def forward(self, x):
        return F.linear(x * self.input_factor, self.weight) * self.unit_factor + self.bias

`;

export const memberOutputSource = `
class MemberOutput(nn.Module):
    """While training the outputs of each member [B, M, outputs]; else the mean of the members' predictions."""

    def __init__(self, members, inputs, outputs):
        super().__init__()
${parameter('weight', 'members, inputs, outputs')}
${parameter('bias', 'members, 1, outputs')}

    def forward(self, x):
        x = (x.transpose(0, 1) @ self.weight + self.bias).transpose(0, 1)
        if self.training:
            return x
        return x.mean(dim=1) if x.shape[2] == 1 else x.softmax(dim=2).mean(dim=1).clamp_min(1e-30).log()

`;
