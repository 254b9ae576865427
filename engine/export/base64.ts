// Base64 (RFC 4648) without btoa, which is not part of the language.

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const three = (bytes[at] << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const text = digits[three >> 18] + digits[(three >> 12) & 63] + digits[(three >> 6) & 63] + digits[three & 63];
    parts.push(left >= 3 ? text : text.slice(0, left + 1) + '='.repeat(3 - left));
  }
  return parts.join('');
}
