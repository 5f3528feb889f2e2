import { z } from "zod";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import { projectCountries, readItem } from "../../reads/directory-items.ts";
import { listProjects, type ProjectRow } from "../../reads/ecosystem.ts";
import { categories } from "../../store/enumerations.ts";
import { type Fact, facts, html, section } from "../console/markup.ts";
import { choice, country, limit, offset } from "../v1/parameters.ts";
import { type Item, windowFacts } from "./items.ts";
import { itemPage, listPage } from "./lists.ts";
import type { Page, Reading } from "./page.ts";
import { categoryText, countryText, outwards, paragraphs, time } from "./text.ts";

/** A project in a list, and at the head of its page. */
export function projectItem(
  project: Pick<ProjectRow, "id" | "name" | "category" | "country" | "totalVotes">,
): Item {
  const { id, name, category, country, totalVotes } = project;
  const kind = [categoryText(category), country === null ? "" : countryText(country)];
  return {
    type: "project",
    id,
    name,
    totalVotes,
    scope: "none",
    kind: kind.filter(Boolean).join(" · "),
  };
}

/** `/projects`: the ecosystem directory, newest first. */
export function projectsPage(reading: Reading): Page {
  const { sql, share } = reading;
  return listPage(reading, {
    path: "/projects",
    nav: "Projects",
    title: "Projects",
    heading: html`<h1>Ecosystem projects</h1>`,
    label: "Which projects",
    shape: z.strictObject({
      category: choice(categories),
      country: country(),
      limit: limit(24),
      offset: offset(),
    }),
    async filters({ country }) {
      const countries = await share("countries", () => projectCountries(sql));
      // One without a project is a choice too where it was asked for.
      const choices = new Set([...countries, ...(country === undefined ? [] : [country])]);
      return [
        {
          parameter: "category",
          label: "Category",
          choices: {
            unset: "Every category",
            words: categories.map((each) => [each, categoryText(each)]),
          },
        },
        {
          parameter: "country",
          label: "Country",
          choices: {
            unset: "Every country",
            words: [...choices].map((each) => [each, countryText(each)]),
          },
        },
      ];
    },
    async read(asked, at) {
      const { projects, total } = await listProjects(sql, { ...asked, now: at });
      return { items: projects.map(projectItem), total };
    },
    nothing: () => "No project fits.",
  });
}

/** `/projects/{id}` */
export function projectPage(reading: Reading): Page {
  return itemPage(reading, {
    path: "/projects",
    name: "project",
    isId: (id) => RECORD_ID.test(id),
    read: (id, now) => readItem(reading.sql, "project", { id, now }),
    item: projectItem,
    details(project) {
      const { category, description, websiteUrl, country, createdAt } = project;
      const rows: readonly Fact[] = [
        ["Category", categoryText(category)],
        ["Country", country === null ? null : countryText(country)],
        ["Website", websiteUrl === null ? null : outwards(websiteUrl, websiteUrl)],
        ["Listed", time(createdAt)],
        ...windowFacts(project),
      ];
      return html`${description === null ? "" : section("About", paragraphs(description))}
${section("Details", facts(rows))}`;
    },
  });
}
