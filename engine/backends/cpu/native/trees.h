// The native kernels of trees (trees.c), one copy an instruction set. They are a file of their own because it is compiled without
// fused multiply-adds: its float64 results have the bits of the WASM kernels.

#pragma once
#include "kernels.h"

#define JOIN_NAMES(name, table) name##_of_##table
#define NAME_OF(name, table) JOIN_NAMES(name, table)

#define tree_bins NAME_OF(tree_bins, TABLE)
#define tree_forest NAME_OF(tree_forest, TABLE)
#define tree_gradients NAME_OF(tree_gradients, TABLE)
#define tree_grid NAME_OF(tree_grid, TABLE)
#define tree_histogram NAME_OF(tree_histogram, TABLE)
#define tree_loss NAME_OF(tree_loss, TABLE)
#define tree_move NAME_OF(tree_move, TABLE)
#define tree_partition NAME_OF(tree_partition, TABLE)
#define tree_predict NAME_OF(tree_predict, TABLE)
#define tree_scores NAME_OF(tree_scores, TABLE)
#define tree_sort NAME_OF(tree_sort, TABLE)
#define tree_split NAME_OF(tree_split, TABLE)

void tree_bins(const Call *call);
void tree_forest(const Call *call);
void tree_gradients(const Call *call);
void tree_grid(const Call *call);
void tree_histogram(const Call *call);
void tree_loss(const Call *call);
void tree_move(const Call *call);
void tree_partition(const Call *call);
void tree_predict(const Call *call);
void tree_scores(const Call *call);
void tree_sort(const Call *call);
void tree_split(const Call *call);
