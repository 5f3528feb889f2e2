import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environment } from "../../src/config.ts";

/**
 * A new temporary folder. The test runner gives every file a place for them,
 * looks there for processes that outlived the file, and removes it.
 */
export function temporaryFolder(name: string): string {
  const place = environment().STARBOARD_TEST_FOLDER ?? tmpdir();
  const folder = mkdtempSync(join(place, `starboard-${name}-`));
  // Run by root, Postgres works as another user and has to pass through.
  chmodSync(folder, 0o711);
  return folder;
}
