import { RECORD_ID } from "../../hosting/actor-name.ts";
import { readProject } from "../../reads/directory-items.ts";
import { type Fact, facts, html, section } from "../console/markup.ts";
import { itemHead } from "./items.ts";
import { windowFacts } from "./market-items.ts";
import type { Page } from "./page.ts";
import { projectItem } from "./project-item.ts";
import { found, type Reading } from "./reading.ts";
import { categoryText, countryText, outwards, paragraphs, time } from "./text.ts";

/** `/projects/{id}` */
export function projectPage({ sql, share }: Reading): Page {
  return {
    path: "/projects/:id",
    async show({ id, now, visitor }) {
      const row = RECORD_ID.test(id)
        ? await share(`project ${id}`, () => readProject(sql, { id, now }))
        : undefined;
      const project = found(row, "project");
      const { description, websiteUrl, country } = project;
      const rows: readonly Fact[] = [
        ["Category", categoryText(project.category)],
        ["Country", country === null ? null : countryText(country)],
        ["Website", websiteUrl === null ? null : outwards(websiteUrl, websiteUrl)],
        ["Listed", time(project.createdAt)],
        ...windowFacts(project),
      ];
      return {
        title: project.name,
        body: html`${itemHead(projectItem(project), visitor)}
${description === null ? "" : section("About", paragraphs(description))}
${section("Details", facts(rows))}`,
      };
    },
  };
}
