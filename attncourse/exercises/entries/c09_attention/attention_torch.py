from ...families.torch_attention import ON_TORCH, attention_torch_cases
from ...pages import written
from .attention import attention

EXERCISE = written(attention, __file__, place=5, cases=attention_torch_cases, **ON_TORCH)
