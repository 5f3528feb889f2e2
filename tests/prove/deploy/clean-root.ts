import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const SOURCES = ["/etc/apt/sources.list", "/etc/apt/sources.list.d"];

/** Where this machine has its Debian packages from. @throws Error where its apt names no mirror */
function mirror(): string {
  const files = SOURCES.filter((path) => existsSync(path)).flatMap((path) =>
    path.endsWith(".d") ? readdirSync(path).map((name) => join(path, name)) : [path],
  );
  for (const file of files) {
    const [found] = /https?:\/\/\S+\/debian\/?(?=\s)/.exec(readFileSync(file, "utf8")) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error("apt's sources name no Debian mirror");
}

/**
 * Makes a folder a Debian of its own, with nothing of this machine but the certificates and the
 * name server that it trusts.
 */
export function makeRoot(folder: string, suite: string, packages: readonly string[] = []): void {
  const include = `--include=${["ca-certificates", ...packages].join()}`;
  execFileSync("debootstrap", ["--variant=minbase", include, suite, folder, mirror()], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  execFileSync("chroot", [folder, "apt-get", "clean"]);
  copyFileSync(CERTIFICATES, join(folder, CERTIFICATES));
  writeFileSync(join(folder, "etc/resolv.conf"), readFileSync("/etc/resolv.conf"));
}
