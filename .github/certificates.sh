# Sourced by the step of release.yml that packs: makes of the secrets there are what electron-builder signs by, and of those that are not
# there nothing at all, since it takes an empty certificate for one. Apple's key has to be a file.

if [ "$RUNNER_OS" = macOS ] && [ -n "${MAC_CERTIFICATE:-}" ]; then
  export CSC_LINK="$MAC_CERTIFICATE" CSC_KEY_PASSWORD="${MAC_CERTIFICATE_PASSWORD:-}"
fi
if [ "$RUNNER_OS" = macOS ] && [ -n "${NOTARY_KEY:-}" ]; then
  export APPLE_API_KEY="$RUNNER_TEMP/notary.p8" APPLE_API_KEY_ID="$NOTARY_KEY_ID" APPLE_API_ISSUER="$NOTARY_ISSUER"
  (umask 077 && printf '%s\n' "$NOTARY_KEY" > "$APPLE_API_KEY")
fi
if [ "$RUNNER_OS" = Windows ] && [ -n "${WINDOWS_CERTIFICATE:-}" ]; then
  export CSC_LINK="$WINDOWS_CERTIFICATE" CSC_KEY_PASSWORD="${WINDOWS_CERTIFICATE_PASSWORD:-}"
fi
unset MAC_CERTIFICATE MAC_CERTIFICATE_PASSWORD NOTARY_KEY NOTARY_KEY_ID NOTARY_ISSUER WINDOWS_CERTIFICATE WINDOWS_CERTIFICATE_PASSWORD
