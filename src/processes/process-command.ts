import { defineCommand } from "citty";
import { checkInstead, PROCESS_FLAGS } from "../cli/doctor.ts";
import { refuseMore } from "../cli/output.ts";
import {
  environment,
  readSettings,
  type SettingName,
  type Settings,
  type With,
} from "../config.ts";
import { armFailpointFromSettings } from "../failpoint.ts";
import { createLogger, type Logger } from "../log.ts";
import { createWakeQueue, type WakeQueue } from "../publishing/queue.ts";
import { closedInTurn, type Service } from "../service.ts";
import { printJson, runUntilStopped } from "./run-until-stopped.ts";
import { startTracing, traceFields } from "./start-tracing.ts";

interface ProcessKind<Name extends SettingName> {
  readonly command: "serve" | "work";
  readonly role: "web" | "worker";
  /** What it cannot do without; a check reports what is missing. */
  readonly needed: readonly Name[];
  /**
   * Called before anything outside is asked or started.
   *
   * @throws ConfigurationError where a setting does not fit this kind
   */
  readonly checkSettings: (settings: Settings) => void;
  readonly start: (
    settings: Readonly<With<Name | "REDIS_URL">>,
    given: { readonly log: Logger; readonly queue: WakeQueue; readonly queueUrl: string },
  ) => Promise<Service & { readonly url: string | null }>;
}

/** The command that runs one process, of any number, or with `--check` looks at its surroundings. */
export function processCommand<const Name extends SettingName>(kind: ProcessKind<Name>) {
  const { command, role, needed, checkSettings, start } = kind;
  const checked = <S extends Settings>(settings: S): S => {
    checkSettings(settings);
    return settings;
  };
  return defineCommand({
    args: PROCESS_FLAGS,
    async run({ args }) {
      refuseMore(args._);
      if (await checkInstead(args, command, () => checked(readSettings(environment())))) return;
      await runUntilStopped(async () => {
        const settings = checked(readSettings(environment(), [...needed, "REDIS_URL"]));
        const log = createLogger(settings.LOG_LEVEL, role, traceFields(settings));
        const { add: closeAtStop, close } = closedInTurn();
        closeAtStop(await startTracing(settings, { role, log }));
        armFailpointFromSettings(settings, log);
        const { REDIS_URL: queueUrl } = settings;
        const queue = closeAtStop(createWakeQueue(queueUrl, log));
        const { url } = closeAtStop(await start(settings, { log, queue, queueUrl }));
        log.info({ url }, `${role} process is up`);
        if (args.json) printJson({ url });
        return { log, close };
      });
    },
  });
}
