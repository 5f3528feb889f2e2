import { z } from "zod";
import { instant } from "../../../actors/day.ts";
import { listProjects, type ProjectRow } from "../../reads/ecosystem.ts";
import { categories } from "../../store/enumerations.ts";
import { type Endpoint, type EndpointDeps, endpoint } from "./endpoint.ts";
import { nextHour, pageOf } from "./page.ts";
import { choice, country, limit, offset } from "./parameters.ts";
import { page, projectSchema } from "./schemas.ts";

export function listProjectsEndpoint({ sql }: EndpointDeps): Endpoint {
  return endpoint({
    path: "/ecosystem",
    name: "listProjects",
    description: "Approved ecosystem projects, newest first.",
    shows: ["project"],
    query: z.strictObject({
      category: choice(categories),
      country: country(),
      limit: limit(50),
      offset: offset(),
    }),
    response: z
      .strictObject({ projects: z.array(projectSchema), ...page })
      .meta({ id: "ProjectPage" }),
    async answer(given, now) {
      const { projects, total } = await listProjects(sql, { ...given, now });
      const shown = projects.map(asProject);
      const body = { projects: shown, ...pageOf(given, projects, total) };
      return { body, until: nextHour(now) };
    },
  });
}

/** A project as clients see it. */
export function asProject({ createdAt, ...row }: ProjectRow): z.output<typeof projectSchema> {
  return { ...row, createdAt: instant(createdAt) };
}
