from dataclasses import dataclass, replace


@dataclass
class AgentResult:
    total_input_tokens: int = 0
    total_output_tokens: int = 0

    def model_copy(self, update):
        return replace(self, **update)
