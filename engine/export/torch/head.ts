// How every `model.py` begins.

export const head = (about: string): string => `"""${about}"""
import torch
import torch.nn.functional as F
from torch import nn

`;
