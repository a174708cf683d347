# Writes FILE with the facts that `fencepost --version` tells about a build: COMPILER as it is given, and the commit
# of SOURCE, with `+` if files differ from it. Without git it is what the environment variable FENCEPOST_COMMIT says.
# A file that says the same stays as it is.
set(commit "$ENV{FENCEPOST_COMMIT}")
if(NOT commit AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=+
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "{\"commit\": \"${commit}\", \"compiler\": \"${COMPILER}\"}\n" @ONLY)
