"""See the package."""


class VLLMClientError(Exception):
    pass
