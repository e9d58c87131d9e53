CREATE TABLE `freshness` (
	`kind` text PRIMARY KEY NOT NULL,
	`unseen_p50_seconds` BIGINT,
	`unseen_p95_seconds` BIGINT,
	`measured_at` TIMESTAMP,
	`sweep_asked_at` TIMESTAMP
);
--> statement-breakpoint
CREATE TABLE `request_budgets` (
	`name` text PRIMARY KEY NOT NULL,
	`thousandths` BIGINT NOT NULL,
	`filled_at` TIMESTAMP NOT NULL,
	`times_halved` BIGINT NOT NULL,
	`halved_at` TIMESTAMP
);
--> statement-breakpoint
ALTER TABLE `kind_state` ADD `lease_yields` BIGINT;