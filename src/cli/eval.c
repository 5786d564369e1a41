/* vit eval: a model's loss, accuracy and confusion on a data set. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>

struct arguments {
    const char *model, *images, *labels;
    size_t threads;
    bool confusion;
};

static void print_confusion(const size_t *confusion, const vit_model *model, size_t classes) {
    char number[24];
    printf("confusion: a row for each true class, a column for each answer\n");
    for (size_t told = 0; told < classes; told++) printf("\t%s", class_label(number, model, told));
    printf("\n");
    for (size_t truth = 0; truth < classes; truth++) {
        printf("%s", class_label(number, model, truth));
        for (size_t told = 0; told < classes; told++)
            printf("\t%zu", confusion[truth * classes + told]);
        printf("\n");
    }
}

static vit_status measure(const struct arguments *a, const vit_model *model,
                          const struct data_set *data, vit_error *why) {
    size_t classes = vit_model_config(model)->classes;
    size_t *confusion = calloc(classes * classes, sizeof *confusion);
    struct pool *pool = NULL;
    struct score score = {0};
    vit_status status = pool_open(&pool, a->threads, why);
    if (!status) status = evaluate(&score, confusion, pool, model, data, 0, data->count, why);
    if (!status) {
        if (a->confusion && confusion) print_confusion(confusion, model, classes);
        printf("loss: %.4f\n", score.loss);
        printf("accuracy: %.4f (%zu/%zu)\n", (double)score.correct / (double)score.count,
               score.correct, score.count);
    }
    pool_close(pool);
    free(confusion);
    return status;
}

int command_eval(int argc, char **argv) {
    struct arguments a = {.threads = cpu_count()};
    const struct option options[] = {
        {"--model", OPTION_TEXT, &a.model, true, "MODEL", "safetensors"},
        {"--images", OPTION_TEXT, &a.images, true, "IDX", "IDX images, gzipped or not"},
        {"--labels", OPTION_TEXT, &a.labels, true, "IDX", "IDX labels, gzipped or not"},
        {"--threads", OPTION_COUNT, &a.threads, false, "N", "one for each core otherwise"},
        {"--confusion", OPTION_FLAG, &a.confusion, false, NULL, "print the confusion matrix too"},
    };
    const struct usage usage = {"eval", "measure a model's accuracy on a data set", NULL, options,
                                sizeof options / sizeof *options};
    int operands, code;
    if (!options_read(&usage, argc, argv, &operands, &code)) return code;
    vit_model *model;
    struct data_set data = {0};
    vit_error why = {""};
    vit_status status = model_read(&model, a.model, &why);
    if (!status) status = data_open(&data, a.images, a.labels, vit_model_config(model), &why);
    if (!status) status = measure(&a, model, &data, &why);
    data_close(&data);
    vit_close(model);
    return status ? fail(&why) : EXIT_FINE;
}
