/**
 * The token of a header `Authorization: Bearer` of any form: the scheme in any case, then
 * spaces alone (RFC 9110, section 11.4; RFC 6750, section 2.1).
 *
 * @param header its value, without white space at its ends, as every parser gives it
 * @returns undefined without a header, for another scheme, and for a bare `Bearer`
 */
export function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(.+)$/i.exec(header ?? "")?.[1];
}
