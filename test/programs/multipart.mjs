const BOUNDARY = 'a-boundary-of-parts';

/**
 * A body of `multipart/form-data` and its headers.
 *
 * @param {Record<string, string>} fields
 * @param {Record<string, string>} files
 */
export function multipart(fields, files) {
  const part = (disposition, text) =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${text}\r\n`;
  const body = [
    ...Object.entries(fields).map(([name, text]) => part(`name="${name}"`, text)),
    ...Object.entries(files).map(([name, text]) =>
      part(`name="${name}"; filename="${name}.txt"\r\nContent-Type: text/plain`, text),
    ),
    `--${BOUNDARY}--\r\n`,
  ].join('');
  return { headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }, body };
}
