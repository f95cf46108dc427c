# The emulator as an image, for tests. Run this in the project's folder, after `docker build -f
# deploy/Dockerfile -t masthead .`:
# `docker build -f deploy/emulator.Dockerfile -t masthead-emulator .`
# docs/testing.md says how to run it.
ARG MASTHEAD=masthead
FROM ${MASTHEAD}
EXPOSE 8000 8001
CMD ["masthead", "emulator", "--host", "0.0.0.0"]
