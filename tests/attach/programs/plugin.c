/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of loader_storm. */
int plus_one(int number);
int plus_one(int number) { return number + 1; }
