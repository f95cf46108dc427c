"""What all servers share: a protocol with limits.

uvicorn's own protocol accepts heads of any size and waits for them without a limit.
"""
