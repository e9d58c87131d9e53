CREATE TABLE `decisions` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` TIMESTAMP NOT NULL,
	`who` text NOT NULL,
	`role` text NOT NULL,
	`via` text NOT NULL,
	`what` text NOT NULL,
	`target` text,
	`detail` text
);
--> statement-breakpoint
CREATE TABLE `users` (
	`name_key` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`token_hash` text NOT NULL,
	`created_at` TIMESTAMP DEFAULT (strftime('%Y-%m-%d %H:%M:%f', 'now')) NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_token_hash` ON `users` (`token_hash`);