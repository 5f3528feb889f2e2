import { z } from "zod";
import { RECORD_ID } from "../../hosting/actor-name.ts";
import { projectCountries, readItem } from "../../reads/directory-items.ts";
import { listProjects, type ProjectRow } from "../../reads/ecosystem.ts";
import { categories } from "../../store/enumerations.ts";
import { type Fact, facts, html, section } from "../console/markup.ts";
import { choice, country, limit, offset } from "../v1/parameters.ts";
import { filterForm, NOTHING_FURTHER, pager } from "./filters.ts";
import { type Item, itemHead, itemList, windowFacts } from "./items.ts";
import type { Page } from "./page.ts";
import { found, type Reading, readFilters } from "./reading.ts";
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

const shape = z.strictObject({
  category: choice(categories),
  country: country(),
  limit: limit(24),
  offset: offset(),
});

/** `/projects`: the ecosystem directory, newest first. */
export function projectsPage({ sql, share }: Reading): Page {
  return {
    path: "/projects",
    nav: "Projects",
    async show({ query, visitor }) {
      const given = readFilters(shape, query);
      const [{ projects, total }, countries] = await Promise.all([
        share(`projects ${JSON.stringify(given)}`, (at) =>
          listProjects(sql, { ...given, now: at }),
        ),
        share("countries", () => projectCountries(sql)),
      ]);
      const { category, country } = given;
      // One without a project is a choice too where it was asked for.
      const choices = new Set([...countries, ...(country === undefined ? [] : [country])]);
      const form = filterForm("/projects", "Which projects", [
        {
          parameter: "category",
          label: "Category",
          unset: "Every category",
          options: categories.map((each) => [each, categoryText(each)]),
          chosen: category,
        },
        {
          parameter: "country",
          label: "Country",
          unset: "Every country",
          options: [...choices].map((each) => [each, countryText(each)]),
          chosen: country,
        },
      ]);
      const empty = given.offset > 0 ? NOTHING_FURTHER : "No project fits.";
      const asked = { category, country, limit: query.get("limit") };
      return {
        title: "Projects",
        body: html`<h1>Ecosystem projects</h1>
${form}
${itemList(projects.map(projectItem), visitor, { empty })}
${pager("/projects", asked, { ...given, total })}`,
      };
    },
  };
}

/** `/projects/{id}` */
export function projectPage({ sql, share }: Reading): Page {
  return {
    path: "/projects/:id",
    async show({ id, visitor }) {
      const row = RECORD_ID.test(id)
        ? await share(`project ${id}`, (at) => readItem(sql, "project", { id, now: at }))
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
